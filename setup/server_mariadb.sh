# The parts of setup/server.sh for MariaDB. Sourced by it and by setup/install.sh, never run.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the script that sources this one

programs=(mariadbd mariadb mariadb-dump mariadb-binlog mariadb-admin mariadb-check my_print_defaults)
download_mb=200
# The server's function whose code contains sizeof(THD).
create_thd=_Z10create_thdv
# The statements that load and unload the library with all its plugins.
load_statement="INSTALL SONAME 'handlersocket2'"
unload_statement="UNINSTALL SONAME 'handlersocket2'"
# The folder from which its own package reads settings.
sample=/etc/mysql/mariadb.conf.d/60-handlersocket.cnf

# The versions of this series for which the package lists have both the server and its source.
list_versions() {
  comm -12 \
    <(apt-cache madison mariadb-server-core | awk -F' *[|] *' '$3 ~ /Packages/ {print $2}' | sort -u) \
    <(apt-cache showsrc mariadb 2>/dev/null | awk '$1 == "Version:" {print $2}' | sort -u) |
    grep -E "^([0-9]+:)?${series//./\\.}\\." || true
}

# The packages that hold the rest of the headers, and the library of the server's services.
header_packages=(libmariadb-dev libmariadbd-dev)
# Those of libraries that the headers include.
library_packages=(libssl-dev)

download_source() {
  (cd "$work/source" && apt-get -q source --download-only "mariadb=$1") >>"$log" 2>&1
}

# may_have_source VERSION: false if the small file that describes the source cannot be downloaded.
may_have_source() {
  (cd "$work/source" && apt-get -q source --download-only --dsc-only "mariadb=$1") >>"$log" 2>&1
}

# download VERSION: server, clients, plugins and the source; false if one of them cannot be
# downloaded.
download() {
  local version=$1
  rm -rf "$apt/cache/archives" "$work/source"
  mkdir -p "$apt/cache/archives/partial" "$work/source"
  printf 'Package: mariadb* libmariadb*\nPin: version %s\nPin-Priority: 1001\n' "$version" >"$apt/preferences"
  download_source "$version" || return 1
  apt-get -qy --download-only install mariadb-server-core mariadb-client-core mariadb-server \
    mariadb-plugin-rocksdb libmariadbd-dev >>"$log" 2>&1 || return 1
}

unpack_headers() {
  local archive top
  archive=$(echo "$work"/source/mariadb_*.orig.tar.?z)
  top=$(basename "$archive")
  top=mariadb-${top#mariadb_}
  top=${top%.orig.tar.?z}
  tar xf "$archive" -C "$headers" --strip-components=1 --no-same-owner --wildcards \
    "$top/include" "$top/sql/*.h" "$top/wsrep-lib/include" "$top/wsrep-lib/wsrep-API/v26" >>"$log" 2>&1 ||
    die "the source archive does not hold the server's headers where they are expected; see ${log#"$repo"/}"
  # The one header that only a configured build tree has; without dtrace it is the same as its
  # template.
  cp "$headers/include/probes_mysql_nodtrace.h.in" "$headers/include/probes_mysql_nodtrace.h"
}
