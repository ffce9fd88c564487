# What differs for MySQL in the life of the package: see inside.sh, which sources it.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with inside.sh

program=/usr/sbin/mysqld
# The last one spares the tree systemd itself.
packages=(mysql-server mysql-server-core mysql-client mysql-client-core systemd-standalone-sysusers)
# Their names, as apt's preferences have them.
pinned='mysql-server* mysql-client*'
# Nothing but Unix sockets and the plugin's port.
settings='[mysqld]\nskip_networking\nmysqlx=OFF\ninnodb_buffer_pool_size=32M\n'
error_logs=/var/log/mysql/error.log

# has_source VERSION: whether the mirror has what the package builds from. It is 400 MB, so a download
# that is still going on after some seconds will do.
has_source() {
  local code=0
  (cd /tmp && timeout 10 apt-get -q download "libmysqlclient-dev=$1" "mysql-source=$1") >"$log" 2>&1 || code=$?
  rm -f /tmp/{libmysqlclient-dev,mysql-source}_*
  ((code == 0 || code == 124))
}

# MySQL's package has only a unit of systemd. With this folder the scripts of Debian's packages take
# it that systemd runs, and ask systemctl.
prepare_service() {
  install /root/package/systemctl.sh /usr/bin/systemctl
  mkdir -p /run/systemd/system
}
