#!/bin/bash
# Gets what only a few tests need beside a server that setup/server.sh got: Spider, and mariadb-backup. It installs
# nothing, changes nothing on the machine, and leaves the server's own tree as it is.
#
#   setup/more.sh NAME     NAME: one of `servers` in common.sh
#
# Leaves in var/servers/NAME-more
#   root/        the unpacked packages, of exactly the server's version
#   bin/         wrappers that run their programs with the server's own loader and libraries
#   more.env     the recipe and the version; written last, so it also says "complete"
# A second run finds more.env and needs no network. There is nothing to get for MySQL: its packages hold everything.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source setup/unpack.sh

# Raise it when this script's results change: trees of an older recipe are made again.
recipe=1
packages=(mariadb-plugin-spider mariadb-backup)
programs=(mariadb-backup mbstream)

name=$1
release=$(server_release "$name")
[[ ${name%%-*} == mariadb ]] || exit 0
setup/server.sh "$name"
version=$(server_value "$name" package_version)

lock_tree "$var/servers/$name-more" "more-$name"
if grep -qsx "recipe=$recipe" "$tree/more.env" && grep -qsx "version=$version" "$tree/more.env"; then
  exit 0
fi

begin_tree
say "getting Spider and mariadb-backup for $name: a download of about 8 MB (once)"
prepare_apt
(cd "$apt/cache/archives" && apt-get -q download "${packages[@]/%/=$version}") >>"$log" 2>&1 ||
  unavailable "Spider and mariadb-backup $version cannot be downloaded at the moment; see ${log#"$repo"/}"
unpack_packages
# The server's libraries are as far from here as from the final place.
for program in "${programs[@]}"; do
  write_wrapper "$program" "../../$name/root"
  "$work/bin/$program" --help >>"$log" 2>&1 || die "the unpacked $program does not run; see ${log#"$repo"/}"
done
[[ -e $root/usr/lib/mysql/plugin/ha_spider.so ]] || die "the package of Spider does not hold ha_spider.so"
end_tree more.env "recipe=$recipe" "version=$version"
say "Spider and mariadb-backup $version are in var/servers/$name-more"
