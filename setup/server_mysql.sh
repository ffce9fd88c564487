# The parts of setup/server.sh for MySQL. Sourced by it and by setup/install.sh, never run.
# shellcheck shell=bash
# shellcheck disable=SC2034,SC2154  # variables shared with the script that sources this one

programs=(mysqld mysql mysqldump mysqlbinlog mysqladmin mysqlcheck my_print_defaults)
download_mb=500
# The server's function whose code contains sizeof(THD).
create_thd=_Z10create_thdbbbjj
# The statements that load and unload the plugin.
load_statement="INSTALL PLUGIN handlersocket SONAME 'handlersocket2.so'"
unload_statement="UNINSTALL PLUGIN handlersocket"
# The folder from which its own package reads settings.
sample=/etc/mysql/mysql.conf.d/60-handlersocket.cnf

# The versions of this series for which the package lists have both the server and its configured
# source tree.
list_versions() {
  comm -12 \
    <(apt-cache madison mysql-server-core | awk -F' *[|] *' '$3 ~ /Packages/ {print $2}' | sort -u) \
    <(apt-cache madison mysql-source | awk -F' *[|] *' '$3 ~ /Packages/ {print $2}' | sort -u) |
    grep -E "^([0-9]+:)?${series//./\\.}\\." || true
}

# The package that holds the rest of the headers, and the library of the server's services.
header_packages=(libmysqlclient-dev)
# Those of libraries that the headers include.
library_packages=(libssl-dev zlib1g-dev)

download_source() {
  (cd "$work/source" && apt-get -q download "mysql-source=$1") >>"$log" 2>&1
}

# The source is one large package, so only its download tells.
may_have_source() { true; }

# download VERSION: server, clients and the source tree; false if one of them cannot be downloaded.
download() {
  local version=$1
  rm -rf "$apt/cache/archives" "$work/source"
  mkdir -p "$apt/cache/archives/partial" "$work/source"
  printf 'Package: mysql-server-core mysql-client-core mysql-source libmysql*\nPin: version %s\nPin-Priority: 1001\n' \
    "$version" >"$apt/preferences"
  download_source "$version" || return 1
  apt-get -qy --download-only install mysql-server-core mysql-client-core libmysqlclient-dev >>"$log" 2>&1 || return 1
}

# The source tree in the package is configured as the server was built.
unpack_headers() {
  dpkg-deb --fsys-tarfile "$work"/source/mysql-source_*.deb | tar xO ./usr/src/mysql/mysql-source.tar.gz |
    tar xzf - -C "$headers" --strip-components=1 --no-same-owner --exclude='*/extra/boost' \
      --exclude='*/extra/icu' --exclude='*/extra/opentelemetry*' --exclude='*/extra/protobuf' \
      --exclude='*/mysql-test' --exclude='*/router' --exclude='*/storage/ndb' --exclude='*/unittest' \
      --exclude='mysql-*/builddir/[!is]*' --wildcards '*.h' '*.hpp' '*.i' '*.ic' 'mysql-*/builddir/include/*' >>"$log" 2>&1 ||
    die "the source package does not hold the server's headers where they are expected; see ${log#"$repo"/}"
  # The one header that the build writes elsewhere. The client's development files have it.
  cp "$root/usr/include/mysql/mysqld_error.h" "$headers/builddir/include/"
  # The name of its folder contains a version, which nobody else should need to know.
  ln -s "$(basename "$(echo "$headers"/extra/unordered_dense/unordered_dense-*)")" "$headers/extra/unordered_dense/current"
}
