#!/bin/bash
# make install: puts the plugin into this machine's own server, if it is one that the plugin can be built for.
#
#   setup/install.sh [NAME]         NAME: which server is expected; without it, whichever is there
#
# Adds hs-bench, hs-top and a commented sample configuration; loads nothing and restarts nothing. DESTDIR is a
# folder to take for /.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source setup/own_server.sh

server=$(find_server)
name=$(kind_and_series "$server")
wanted_name=${1:-$name}
server_release "$wanted_name" >/dev/null
[[ $wanted_name == "$name" ]] ||
  die "this machine's server is $name, not $wanted_name: a plugin fits only the version that it was built for"
((EUID == 0)) || die "make install writes to the server's folders: run it as root"

# The same version may come from another maker's package, or from a build with other settings.
package=$(dpkg-query --search "$server" 2>/dev/null | cut -d: -f1 | head -n 1) || true
installed=$(dpkg-query --show --showformat '${Version}' "${package:-none}" 2>/dev/null) ||
  die "$server comes from no Debian package, so nothing tells whether the plugin fits it: it has to be Debian's own"

# fits: dies unless the server that was got is the same version.
fits() {
  local wanted
  wanted=$(server_value "$name" package_version)
  if dpkg --compare-versions "$installed" gt "$wanted"; then
    die "this machine's server is $installed and var/servers/$name holds the older $wanted: remove that folder and run make install" \
      "again; if that gets the old version again, Debian has no headers of $installed yet"
  fi
  [[ $installed == "$wanted" ]] ||
    die "this machine's server is $installed and the plugin fits $wanted alone: bring the server to that version" \
      "(apt-get install $package=$wanted), then run make install again"
}

# Before a compiler is installed, and a server downloaded.
if [[ -e var/servers/$name/server.env ]]; then
  fits
else
  say "looking for the headers of $name $installed"
  setup/server.sh "$name" --must-be "$installed"
fi
setup/packages.sh build top
setup/server.sh "$name"
fits
# shellcheck source=setup/server_mariadb.sh
source "setup/server_${name%%-*}.sh"
# shellcheck disable=SC2154  # set by the file above
installed_size=$(server_thd_size "$server" "$create_thd")
thd_size=$(server_value "$name" thd_size)
[[ $installed_size == "$thd_size" ]] ||
  die "$server says it is $installed, but its THD has another size: it was built in another way, and the plugin does not fit it"

setup/build.sh "$name"
setup/build.sh "$name" hs-bench
directory=${DESTDIR:-}$(plugin_folder "$server")
sample=${DESTDIR:-}$sample
mkdir -p "$directory"

# Replaces the file in one step: a running server keeps the file that it has loaded.
install -m 644 "build/$name/src/mysqld/handlersocket2.so" "$directory/handlersocket2.so.new"
mv "$directory/handlersocket2.so.new" "$directory/handlersocket2.so"
install -D -m 755 "build/$name/bench/hs-bench" "$bench_program"
setup/hs_top.sh "$top_program"
say "installed $directory/handlersocket2.so for $name, $installed, $bench_program and $top_program"

# shellcheck disable=SC2154  # set by the file of the kind
if [[ -e $sample ]]; then
  say "left $sample as it is"
elif [[ -d $(dirname "$sample") ]]; then
  # In one step: a part of it would be left as it is from then on.
  sample_settings "$server" >"$sample.new"
  mv "$sample.new" "$sample"
  say "added $sample, with everything commented out"
else
  say "$(dirname "$sample") is not there: put the settings that docs/configuration.md names into the server's own file"
fi
say "to switch it on: set a port and restart the server, or run $load_statement"
