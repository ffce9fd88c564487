#!/bin/bash
# make install: puts the plugin into this machine's own server, if it is one that the plugin can be built for.
#
#   setup/install.sh [NAME]         NAME: which server is expected; without it, whichever is there
#
# Adds a commented sample configuration; loads nothing and restarts nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The program of the machine's server. MariaDB's package has a link of MySQL's name, too.
find_server() {
  local program
  for program in mariadbd /usr/sbin/mariadbd mysqld /usr/sbin/mysqld; do
    program=$(command -v "$program") || continue
    readlink -f "$program"
    return
  done
  die "this machine has no server: install MariaDB's or MySQL's (apt-get install mariadb-server, or mysql-server), then run make install again"
}

# kind_and_series PROGRAM: what a server calls itself, in the words of `servers`: mariadb-10.11.
kind_and_series() {
  local words series
  words=$("$1" --no-defaults --version 2>/dev/null) || die "$1 does not run: it cannot say which version it is"
  series=$(grep -oE 'Ver [0-9]+\.[0-9]+' <<<"$words") || die "$1 does not say which version it is: $words"
  if [[ $words == *MariaDB* ]]; then echo "mariadb-${series#Ver }"; else echo "mysql-${series#Ver }"; fi
}

server=$(find_server)
name=$(kind_and_series "$server")
wanted_name=${1:-$name}
server_release "$wanted_name" >/dev/null
[[ $wanted_name == "$name" ]] ||
  die "this machine's server is $name, not $wanted_name: a plugin fits only the version that it was built for"
((EUID == 0)) || die "make install writes to the server's folders: run it as root"

setup/packages.sh build
setup/server.sh "$name"

# The version may be that of another maker's package, or of a build with other settings.
wanted=$(server_value "$name" package_version)
package=$(dpkg-query --search "$server" 2>/dev/null | cut -d: -f1 | head -n 1) || true
installed=$(dpkg-query --show --showformat '${Version}' "${package:-none}" 2>/dev/null) ||
  die "$server comes from no Debian package, so nothing tells whether the plugin fits it: it has to be $wanted"
if dpkg --compare-versions "$installed" gt "$wanted"; then
  die "this machine's server is $installed and var/servers/$name holds the older $wanted: remove that folder and run make install" \
    "again; if it is got as old again, the headers of $installed are not to be had yet"
fi
[[ $installed == "$wanted" ]] ||
  die "this machine's server is $installed and the plugin fits $wanted alone: bring the server to that version" \
    "(apt-get install $package=$wanted), then run make install again"
# shellcheck source=setup/server_mariadb.sh
source "setup/server_$(server_value "$name" kind).sh"
# shellcheck disable=SC2154  # set by the file above
[[ $(server_thd_size "$server" "$create_thd") == "$(server_value "$name" thd_size)" ]] ||
  die "$server says it is $installed, but its THD has another size: it was built in another way, and the plugin does not fit it"

setup/build.sh "$name"
directory=$("$server" --verbose --help 2>/dev/null | awk '$1 == "plugin-dir" {print $2}') || true
[[ $directory == /* ]] || die "cannot find the server's plugin folder: it says '$directory'"
directory=${directory%/}
mkdir -p "$directory"

# In one step: a server that is running keeps the file that it has loaded.
install -m 644 "build/$name/src/mysqld/handlersocket2.so" "$directory/handlersocket2.so.new"
mv "$directory/handlersocket2.so.new" "$directory/handlersocket2.so"
say "installed $directory/handlersocket2.so for $name, $installed"

# shellcheck disable=SC2154  # set by the file of the kind
if [[ -e $sample ]]; then
  say "left $sample as it is"
elif [[ -d $(dirname "$sample") ]]; then
  cat >"$sample" <<SAMPLE
# HandlerSocket. Take the # away from what you want, then restart the server.
# With no port set nothing listens; docs/configuration.md of the project has every setting.
[$(basename "$server")]
#plugin_load_add = handlersocket=handlersocket2.so
#handlersocket_address = 127.0.0.1
#handlersocket_port = 9998
#handlersocket_port_wr = 9999
SAMPLE
  say "added $sample, with everything commented out"
else
  say "$(dirname "$sample") is not there: put the settings that docs/configuration.md names into the server's own file"
fi
say "to switch it on: set a port and restart the server, or run INSTALL PLUGIN handlersocket SONAME 'handlersocket2.so'"
