#!/bin/bash
# handlersocket2-build: builds the plugin for this machine's server, then chooses the library.
#
#   handlersocket2-build                     for the server that is installed
#   handlersocket2-build PROGRAM VERSION     for one that is about to be: its program, its package's version
#
# The package's postinst runs it when the server's program was replaced, and before_dpkg.sh when it
# is going to be. A DBA runs it when the headers could not be had before. It says one line, which
# also goes to the system's log. A library that exists already is not built again.
library_folder=/var/lib/handlersocket2
export HS_VAR=/var/cache/handlersocket2
# What the build may take at most. dpkg waits for it.
longest_build=1800

((EUID == 0)) || { echo "handlersocket2-build: run it as root" >&2; exit 1; }
if [[ ${HS_BUILD_IN_TIME:-} != yes ]]; then
  HS_BUILD_IN_TIME=yes exec nice -n 5 timeout --kill-after=10 "$longest_build" "$(readlink -f "$0")" "$@"
fi
umask 022
# shellcheck source=../common.sh
source "$(dirname "$(readlink -f "${BASH_SOURCE[0]}")")/../common.sh"
build_log=$var/log/build.log

tell() {
  echo "handlersocket2: $*"
  logger -t handlersocket2 -- "$*" 2>/dev/null || true
}

# Only one build at a time: apt, dpkg and a DBA may ask for the same one.
exec 9>"$var/lock"
flock -w "$longest_build" 9

if (($# == 2)); then
  program=$1
  version=$2
  kind=mysql
  [[ $(basename "$program") != mariadbd ]] || kind=mariadb
else
  kind=mariadb
  program=/usr/sbin/mariadbd
  [[ -x $program ]] || { kind=mysql program=/usr/sbin/mysqld; }
  [[ -x $program ]] || { tell "no server is installed; the plugin is built as soon as one is" && exit 0; }
  package=$(dpkg-query --search "$program" 2>/dev/null | cut -d: -f1 | head -n 1) || true
  version=$(dpkg-query --show --showformat '${Version}' "${package:-none}" 2>/dev/null) || true
fi
upstream=${version#*:}
upstream=${upstream%%[-+]*}
# shellcheck disable=SC2034  # read by the sourced files
series=${upstream%.*}
name=$kind-$series
build_id=$(LC_ALL=C readelf -n "$program" 2>/dev/null | sed -n 's/^ *Build ID: //p')
target=$library_folder/$kind-${version#*:}
# A newer plugin replaces the library of the older one for the same server.
fits="$build_id $(cat "$repo/version")"

# Gets the headers into $tree, unless they are there from the last build.
get_headers() {
  ! grep -qsxF "package_version=$version" "$tree/server.env" || return 0
  # shellcheck disable=SC2034  # read by the sourced files
  release=$(server_release "$name")
  work=$tree.partial root=$work/root headers=$work/headers apt=$work/apt log=$build_log
  rm -rf "$tree" "$work"
  mkdir -p "$headers" "$work/source"
  (($(df --output=avail -m "$work" | tail -n 1) >= 1000)) || die "the disk of $var has less than 1000 MB free"
  # shellcheck source=../server_mariadb.sh
  source "setup/server_$kind.sh"
  source setup/unpack.sh
  prepare_apt
  list_versions | grep -qxF "$version" || die "Debian $release has no headers of $kind $version"
  download_source "$version" || die "the source of $kind $version cannot be downloaded"
  (cd "$apt/cache/archives" && apt-get -q download "${header_packages[@]/%/=$version}" "${library_packages[@]}") ||
    die "the development packages of $kind $version cannot be downloaded"
  unpack_packages
  unpack_headers
  # Only the headers and one library are needed.
  find "$root" \( -type f -o -type l \) ! -path '*/include/*' ! -name libmysqlservices.a -delete
  thd_size=$(server_thd_size "$program" "$create_thd")
  rm -rf "$apt" "$work/source"
  printf '%s\n' "kind=$kind" "version=$upstream" "package_version=$version" "thd_size=$thd_size" >"$work/server.env"
  mv "$work" "$tree"
}

build() {
  tree=$var/headers
  get_headers
  rm -rf "$var/build" "$target.new"
  cmake -S . -B "$var/build" -G Ninja -DHS_SERVER="$tree" -DHS_TESTS=OFF
  cmake --build "$var/build" --target handlersocket2
  mkdir -p "$target.new"
  install -s -m 644 "$var/build/src/mysqld/handlersocket2.so" "$target.new/"
  echo "$fits" >"$target.new/fits"
  rm -rf "$target" "$var/build"
  mv "$target.new" "$target"
}

result=0
if [[ -z $version || -z $build_id ]]; then
  tell "cannot build for $program: it comes from no Debian package, or its build ID cannot be read; the server starts without the plugin"
  result=1
elif [[ $(cat "$target/fits" 2>/dev/null) == "$fits" ]]; then
  tell "has a library for $kind $version already"
else
  started=$SECONDS
  # There is no `if` around it, because that would switch off `set -e` inside.
  set +e
  (set -e && build) >"$build_log" 2>&1 </dev/null
  result=$?
  set -e
  rm -rf "$var/headers.partial" "$var/build" "$target.new"
  if ((result == 0)); then
    tell "built the plugin for $kind $version in $((SECONDS - started)) s"
  else
    reason=$(grep '^error: ' "$build_log" | tail -n 1) || true
    tell "cannot build for $kind $version: ${reason:-error: see $build_log}. The server starts without the plugin;" \
      "when this is mended, run handlersocket2-build and restart the server"
    result=1
  fi
fi
# A library for a server that is still to come is chosen once it is there.
(($# == 2)) || /usr/lib/handlersocket2/choose
exit "$result"
