#!/bin/bash
# Starts the server of a container, as the user mysql. At the first start it makes the data directory and
# executes the files /docker-entrypoint-initdb.d/*.sql, as the images of MariaDB and MySQL do. Words after
# the image's name are options of the server.
set -euo pipefail

volume=/var/lib/mysql
socket=/tmp/first-start.sock
starter=
stop_starter() {
  [[ -z $starter ]] || kill "$starter" 2>/dev/null || true
  wait
}

# The folder is made under another name: a folder `data` is complete.
if [[ ! -d $volume/data ]]; then
  rm -rf "$volume/making"
  trap stop_starter EXIT
  trap 'exit 143' TERM
  mariadb-install-db --datadir="$volume/making" --auth-root-authentication-method=socket \
    --auth-root-socket-user=mysql --skip-test-db --force >/tmp/making.log 2>&1 ||
    { cat /tmp/making.log >&2 && exit 1; }
  # Clients of the plugin must not come before the files are executed.
  mariadbd --datadir="$volume/making" --socket="$socket" --skip-networking \
    --loose-handlersocket-port= --loose-handlersocket-port-wr= "$@" &
  starter=$!
  until mariadb-admin --socket="$socket" --silent ping 2>/dev/null; do
    kill -0 "$starter"
    sleep 0.2
  done
  for file in /docker-entrypoint-initdb.d/*.sql; do
    [[ ! -e $file ]] || mariadb --socket="$socket" <"$file"
  done
  mariadb-admin --socket="$socket" shutdown
  wait "$starter"
  starter=
  mv "$volume/making" "$volume/data"
fi
exec mariadbd --datadir="$volume/data" "$@"
