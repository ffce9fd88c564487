#!/bin/bash
# Makes the clean Debian tree in which the examples of the documents are tried: Debian's own server, of the version for which
# the plugin was built, and the packages that the documents tell a reader to install. Prints the path of its archive.
#
#   setup/documents_tree.sh NAME    NAME: one of `servers` in common.sh, of MariaDB
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
release=$(server_release "$name")
version=$(server_value "$name" package_version)
[[ -n $version ]] || die "setup/server.sh has not got $name yet"
packages=(mariadb-server mariadb-client mariadb-plugin-spider make openssl telnet redis-tools python3-venv python3-pymysql)
# Another recipe makes another tree.
archive=$var/debian/documents-$release-${version#*:}-$(cat setup/documents_tree.sh setup/clean_tree.sh | cksum | cut -d' ' -f1).tar

exec 9>"$var/log/documents_tree.lock"
flock -w 900 9 || die "another run has been making the documents' tree for 15 minutes"
if [[ ! -e $archive ]]; then
  ((EUID == 0)) || die "making a Debian tree needs root"
  source setup/clean_tree.sh
  command -v debootstrap >/dev/null || quietly "$var/log/debootstrap.log" apt-get -qy --no-install-recommends install debootstrap
  tree=$(mktemp -d "$trees/documents.XXXXXX")
  trap 'rm -rf --one-file-system "$tree"' EXIT
  {
    make_tree "$release" "$tree"
    printf 'Package: *mariadb*\nPin: version %s\nPin-Priority: 1001\n' "$version" >"$tree/etc/apt/preferences"
    # Installing starts no service.
    printf '#!/bin/sh\nexit 101\n' >"$tree/usr/sbin/policy-rc.d"
    chmod +x "$tree/usr/sbin/policy-rc.d"
    say "installing ${packages[*]} into it"
    quietly "$var/log/documents-tree.log" in_tree 900 "$tree" bash -c \
      'apt-get -q update && apt-get -qy --no-install-recommends -o Dpkg::Options::=--force-unsafe-io install "$@" && apt-get clean' \
      bash "${packages[@]}"
    # shellcheck disable=SC2016  # dpkg-query's own word
    installed=$(chroot "$tree" dpkg-query --show --showformat '${Version}' mariadb-server)
    [[ $installed == "$version" ]] ||
      die "var/servers/$name is $version, and Debian $release has $installed: remove that folder, so that it is made again"
  } >&2
  rm -f "$trees"/documents-*.tar*
  tar cf "$archive.new" -C "$tree" .
  mv "$archive.new" "$archive"
fi
echo "$archive"
