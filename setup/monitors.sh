#!/bin/bash
# Gets Prometheus and its exporters for MySQL and for Redis into var/monitors, as this machine's Debian has them, installing
# nothing: an installed one would be started as a service. Tests run them.
#
# Its monitors.env has the recipe; written last, so it also says "complete". A second run finds it and needs no network.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source setup/unpack.sh

# Raise it when this script's results change: trees of an older recipe are made again.
recipe=2

# shellcheck disable=SC2034,SC1091  # name is for unpack.sh
name="Prometheus and its exporters" release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# The packages, and the programs in them.
programs=(prometheus prometheus-mysqld-exporter prometheus-redis-exporter)
lock_tree "$var/monitors" monitors
if grep -qsx "recipe=$recipe" "$tree/monitors.env"; then
  exit 0
fi

begin_tree
mkdir "$root"
say "getting $name, a download of 30 MB (once)"
prepare_apt
(cd "$work" && apt-get -qy download "${programs[@]}" >>"$log" 2>&1) ||
  unavailable "$name cannot be downloaded at the moment; see ${log#"$repo"/}"
# They are linked with nothing but the C library, which is the machine's own.
for package in "$work"/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar xf - -C "$root" --no-same-owner ./usr/bin || die "cannot unpack $(basename "$package"); is the disk full?"
done
for program in "${programs[@]}"; do
  mv "$root/usr/bin/$program" "$work/bin/"
  "$work/bin/$program" --version >>"$log" 2>&1 || die "the unpacked $program does not run; see ${log#"$repo"/}"
done
rm -rf "$root" "$work"/*.deb
end_tree monitors.env "recipe=$recipe"
