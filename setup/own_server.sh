# What make install and make uninstall ask this machine's own server. Sourced by them, never run.
# shellcheck shell=bash

# shellcheck disable=SC2034  # used by the scripts that source this one
bench_program=${DESTDIR:-}/usr/local/bin/hs-bench
# shellcheck disable=SC2034
top_program=${DESTDIR:-}/usr/local/bin/hs-top

# The program of the machine's server. MariaDB's package also has a link with MySQL's name.
find_server() {
  local program
  for program in mariadbd /usr/sbin/mariadbd mysqld /usr/sbin/mysqld; do
    program=$(command -v "$program") || continue
    readlink -f "$program"
    return
  done
  die "this machine has no server: install MariaDB's or MySQL's (apt-get install mariadb-server, or mysql-server), then try again"
}

# kind_and_series PROGRAM: the server's name in the form of `servers`, such as mariadb-10.11.
kind_and_series() {
  local words series
  words=$("$1" --no-defaults --version 2>/dev/null) || die "$1 does not run: it cannot say which version it is"
  series=$(grep -oE 'Ver [0-9]+\.[0-9]+' <<<"$words") || die "$1 does not say which version it is: $words"
  if [[ $words == *MariaDB* ]]; then echo "mariadb-${series#Ver }"; else echo "mysql-${series#Ver }"; fi
}

# plugin_folder PROGRAM: where the server looks for plugins.
plugin_folder() {
  local directory
  directory=$("$1" --verbose --help 2>/dev/null | awk '$1 == "plugin-dir" {print $2}') || true
  [[ $directory == /* ]] || die "cannot find the server's plugin folder: it says '$directory'"
  echo "${directory%/}"
}

# sample_settings PROGRAM: the file of settings that make install adds. All of it is commented out.
sample_settings() {
  cat <<SAMPLE
# HandlerSocket. Take the # away from what you want, then restart the server.
# With no port set nothing listens; docs/configuration.md of the project has every setting.
[$(basename "$1")]
#plugin_load_add = handlersocket2.so
#loose_handlersocket_address = 127.0.0.1
#loose_handlersocket_port = 9998
#loose_handlersocket_port_wr = 9999
# Clients may do what this account may do. Create it, and grant it what they need.
#loose_handlersocket_anonymous_account = handlersocket@localhost
# It is OFF by default. With ON, lookups take a third to a half of the CPU time.
#innodb_adaptive_hash_index = ON
SAMPLE
}
