#!/bin/bash
# Gets Prometheus and mysqld_exporter into var/monitors, as this machine's Debian has them, installing nothing: an
# installed one would be started as a service. The test of the Grafana dashboard runs them.
#
# A second run finds them and needs no network.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source setup/unpack.sh

# shellcheck disable=SC2034,SC1091  # name is for unpack.sh
name="Prometheus and mysqld_exporter" release=$(. /etc/os-release && echo "$VERSION_CODENAME")
# The packages, and the programs in them.
programs=(prometheus prometheus-mysqld-exporter)
tree=$var/monitors
exec 9>"$tree.lock"
flock -w 600 9 || die "another run has been getting the monitors for ten minutes"
[[ ! -e $tree ]] || exit 0

work=$tree.partial
log=$var/log/monitors.log
# shellcheck disable=SC2034  # for unpack.sh
apt=$work/apt
rm -rf "$work"
trap 'rm -rf "$work"' EXIT
mkdir -p "$work/root"
: >"$log"
say "getting $name, a download of 26 MB (once)"
prepare_apt
(cd "$work" && apt-get -qy download "${programs[@]}" >>"$log" 2>&1) ||
  unavailable "$name cannot be downloaded at the moment; see ${log#"$repo"/}"
# They are linked with nothing but the C library, which is the machine's own.
for package in "$work"/*.deb; do
  dpkg-deb --fsys-tarfile "$package" | tar xf - -C "$work/root" --no-same-owner ./usr/bin || die "cannot unpack $(basename "$package"); is the disk full?"
done
mkdir "$work/bin"
for program in "${programs[@]}"; do
  mv "$work/root/usr/bin/$program" "$work/bin/"
  "$work/bin/$program" --version >>"$log" 2>&1 || die "the unpacked $program does not run; see ${log#"$repo"/}"
done
rm -rf "$work/root" "$apt" "$work"/*.deb
mv "$work" "$tree"
