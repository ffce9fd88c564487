# What differs for MariaDB in the life of the package: see inside.sh, which sources it.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with inside.sh

program=/usr/sbin/mariadbd
packages=(mariadb-server mariadb-server-core mariadb-client mariadb-client-core mariadb-common libmariadb3)
# Their names, as apt's preferences have them.
pinned='*mariadb*'
# Nothing but Unix sockets and the plugin's port.
settings='[mariadbd]\nskip_networking\ninnodb_buffer_pool_size=32M\n'
error_logs='/var/lib/mysql/*.err'

# has_source VERSION: whether the mirror has what the package builds from.
has_source() { (cd /tmp && apt-get -q source --download-only --dsc-only "mariadb=$1") >"$log" 2>&1; }

# Without systemd the server's own init script starts it.
prepare_service() { true; }
