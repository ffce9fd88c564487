#!/bin/bash
# make deb: the Debian package handlersocket2, in build/deb. setup/package holds what only it needs.
#
# The package carries the plugin's source and builds it on the machine where it is installed, because
# a plugin fits one version of the server alone. hs-bench and hs-top fit every server, so they are made here.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source setup/own_server.sh

setup/packages.sh build deb
version=$(sed -n 's/^project(.* VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)
[[ -n $version ]] || die "CMakeLists.txt names no version"
# Below the version that will be released, so that apt replaces this package by that one.
! grep -q "^## $version (not released yet)" CHANGELOG.md || version+=~dev
configure build/package -DHS_TESTS=OFF
cmake --build build/package --target hs-bench --parallel "$(nproc)"

tree=build/deb/tree
rm -rf build/deb
mkdir -p "$tree"/{DEBIAN,usr/sbin,usr/lib/handlersocket2,usr/src/handlersocket2,usr/share/doc/handlersocket2}
install -Ds build/package/bench/hs-bench "$tree/usr/bin/hs-bench"
setup/hs_top.sh "$tree/usr/bin/hs-top"

sources=$tree/usr/src/handlersocket2
setup/package/copy_sources.sh "$sources"
# Changes with every source, so that a newer plugin is built although the server is the same.
find "$sources" -type f | LC_ALL=C sort | xargs cat | sha256sum | cut -c1-16 >"$sources/version"
ln -s ../src/handlersocket2/setup/package/build.sh "$tree/usr/sbin/handlersocket2-build"
install setup/package/choose.sh "$tree/usr/lib/handlersocket2/choose"
install setup/package/before_dpkg.sh "$tree/usr/lib/handlersocket2/before_dpkg"

install -D -m 644 setup/package/apt.conf "$tree/etc/apt/apt.conf.d/60handlersocket2"
for server in mariadb:mariadbd mysql:mysqld; do
  kind=${server%:*}
  install -D -m 644 setup/package/systemd.conf "$tree/usr/lib/systemd/system/$kind.service.d/handlersocket2.conf"
  mkdir -p "$tree/etc/mysql/$kind.conf.d"
  # Without a port nothing listens.
  sample_settings "${server#*:}" | sed 's/^#plugin_load_add/plugin_load_add/' \
    >"$tree/etc/mysql/$kind.conf.d/60-handlersocket.cnf"
done
(cd "$tree" && find etc -type f -printf '/%p\n' | sort >DEBIAN/conffiles)

documents=$tree/usr/share/doc/handlersocket2
cp README.md docs/*.md "$documents/"
cp -r docs/images tools/grafana "$documents/"
gzip -9n <CHANGELOG.md >"$documents/changelog.gz"
printf 'The plugin, hs-bench, hs-top and this package: GPL-2.0-only, /usr/share/common-licenses/GPL-2.\n' >"$documents/copyright"

install -m 755 setup/package/{postinst,prerm,postrm} "$tree/DEBIAN/"
install -m 644 setup/package/triggers "$tree/DEBIAN/"
# dpkg-shlibdeps wants a file of this name in its folder.
mkdir -p build/deb/debian
touch build/deb/debian/control
libraries=$(cd build/deb && dpkg-shlibdeps -O tree/usr/bin/hs-bench 2>/dev/null | sed -n 's/^shlibs:Depends=//p')
cat >"$tree/DEBIAN/control" <<CONTROL
Package: handlersocket2
Version: $version
Architecture: amd64
Section: database
Priority: optional
Maintainer: The HandlerSocket 2 project <handlersocket2@localhost>
Installed-Size: $(du -sk --exclude=DEBIAN "$tree" | cut -f1)
Depends: $libraries, binutils, cmake (>= 3.25), debian-archive-keyring, g++ (>= 4:12), libcli11-dev, ninja-build, python3, python3-pymysql, xz-utils
Enhances: mariadb-server, mysql-server
Description: HandlerSocket protocol for MariaDB and MySQL
 A plugin that reads and writes tables past the SQL parser and the optimizer.
 .
 The package carries the plugin's source. It builds the plugin when it is
 installed and at each upgrade of the server, before the server starts again.
CONTROL
chmod -R u=rwX,go=rX "$tree"
package=build/deb/handlersocket2_${version}_amd64.deb
(cd "$tree" && find usr -type f -print0 | sort -z | xargs -0 md5sum >DEBIAN/md5sums)
dpkg-deb --root-owner-group --build "$tree" "$package.new" >/dev/null
mv "$package.new" "$package"
rm -rf "$tree" build/deb/debian
say "made $package"
