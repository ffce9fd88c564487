#!/bin/bash
# make install: puts the plugin into this machine's own server, if it is the one that the plugin was built for.
#
#   setup/install.sh NAME
#
# Adds a commented sample configuration; loads nothing and restarts nothing.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
sample=/etc/mysql/mariadb.conf.d/60-handlersocket.cnf

server=$(command -v mariadbd || command -v /usr/sbin/mariadbd) ||
  die "this machine has no MariaDB server: install one (apt-get install mariadb-server), then run make install again"
((EUID == 0)) || die "make install writes to the server's folders: run it as root"

setup/packages.sh build
setup/server.sh "$name"

wanted=$(server_value "$name" package_version)
package=$(dpkg-query --search "$(readlink -f "$server")" 2>/dev/null | cut -d: -f1 | head -n 1) || true
installed=$(dpkg-query --show --showformat '${Version}' "${package:-mariadb-server-core}" 2>/dev/null) ||
  die "$server comes from no Debian package, so nothing tells whether the plugin fits it: it has to be $wanted"
if [[ $installed != "$wanted" ]]; then
  die "this machine's server is $installed and the plugin fits $wanted alone: bring the server to that version" \
    "(apt-get install mariadb-server=$wanted mariadb-server-core=$wanted), then run make install again"
fi
[[ $(server_thd_size "$server") == "$(server_value "$name" thd_size)" ]] ||
  die "$server says it is $installed, but its THD has another size: it was built in another way, and the plugin does not fit it"

setup/build.sh "$name"
directory=$("$server" --verbose --help 2>/dev/null | awk '$1 == "plugin-dir" {print $2}') || true
[[ $directory == /* ]] || die "cannot find the server's plugin folder: it says '$directory'"
directory=${directory%/}
mkdir -p "$directory"

# In one step: a server that is running keeps the file that it has loaded.
install -m 644 "build/$name/src/mysqld/handlersocket2.so" "$directory/handlersocket2.so.new"
mv "$directory/handlersocket2.so.new" "$directory/handlersocket2.so"
say "installed $directory/handlersocket2.so for MariaDB $installed"

if [[ -e $sample ]]; then
  say "left $sample as it is"
elif [[ -d $(dirname "$sample") ]]; then
  cat >"$sample" <<'SAMPLE'
# HandlerSocket. Take the # away from what you want, then restart the server.
# With no port set nothing listens; docs/configuration.md of the project has every setting.
[mariadbd]
#plugin_load_add = handlersocket=handlersocket2.so
#handlersocket_address = 127.0.0.1
#handlersocket_port = 9998
#handlersocket_port_wr = 9999
SAMPLE
  say "added $sample, with everything commented out"
fi
say "to switch it on: edit that file and restart the server, or run INSTALL PLUGIN handlersocket SONAME 'handlersocket2.so'"
