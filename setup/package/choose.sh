#!/bin/sh
# Puts the library that was built for the installed server into the server's plugin folder, or takes
# a library that was built for another one away. Then the server starts without the plugin.
#
# systemd runs it before each start of the server, and handlersocket2-build after each build. The
# server's program is known by its build ID, so it does not matter what dpkg is doing meanwhile. A
# running server keeps the file that it has loaded.
plugin=/usr/lib/mysql/plugin/handlersocket2.so
program=/usr/sbin/mariadbd
[ -x "$program" ] || program=/usr/sbin/mysqld
[ -x "$program" ] || exit 0

build_id=$(LC_ALL=C readelf -n "$program" 2>/dev/null | sed -n 's/^ *Build ID: //p')
for folder in /var/lib/handlersocket2/*/; do
  grep -qs "^${build_id:-unknown} " "$folder/fits" || continue
  cmp -s "$folder/handlersocket2.so" "$plugin" && exit 0
  mkdir -p "${plugin%/*}"
  # It is a copy, because AppArmor may forbid the server to read other folders.
  cp "$folder/handlersocket2.so" "$plugin.new" && mv "$plugin.new" "$plugin"
  exit
done
rm -f "$plugin" "$plugin.new"
line="no library fits $program: it starts without the plugin. Run handlersocket2-build, then restart the server"
echo "handlersocket2: $line"
logger -t handlersocket2 -- "$line" 2>/dev/null
exit 0
