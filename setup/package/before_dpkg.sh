#!/bin/bash
# apt runs it before dpkg, and writes the names of the packages that dpkg is going to unpack, one a
# line. If the server is among them, the plugin is built for the new server here, while the old one
# still runs. If it fails, the package's trigger tries again. It never stops apt.
while read -r package; do
  [[ $(basename "$package") =~ ^(mariadb|mysql)-server-core_.*\.deb$ ]] || continue
  program=usr/sbin/${BASH_REMATCH[1]}d
  [[ ${BASH_REMATCH[1]} == mariadb ]] || program=usr/sbin/mysqld
  folder=$(mktemp -d) || exit 0
  dpkg-deb --fsys-tarfile "$package" | tar x -C "$folder" "./$program" &&
    /usr/sbin/handlersocket2-build "$folder/$program" "$(dpkg-deb --field "$package" Version)"
  rm -rf "$folder"
done
exit 0
