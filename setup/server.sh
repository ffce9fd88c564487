#!/bin/bash
# Gets a database server and its matching private headers into var/servers/NAME,
# installing nothing and changing nothing on the machine.
#
#   setup/server.sh NAME                      NAME: one of `servers` in common.sh
#   setup/server.sh NAME --must-be VERSION    gets nothing; an error if that version of its package cannot be had
#
# Leaves there
#   root/        the unpacked server, its clients, its plugins and every library they need
#   headers/     the server's private headers, of exactly the server's version
#   bin/         wrappers that run the programs of root/ with root/'s own loader and libraries
#   server.env   what was got, one key=value a line; written last, so it also says "complete"
# A second run finds server.env and needs no network.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Raise it when this script's results change: trees of an older recipe are made again.
recipe=2

name=$1
release=$(server_release "$name")
kind=${name%%-*}
series=${name#*-}
# What differs between the kinds: packages, headers, programs.
# shellcheck source=setup/server_mariadb.sh
source "setup/server_$kind.sh"
source setup/unpack.sh

lock_tree "$var/servers/$name" "server-$name"
# Its size of a THD is among what was checked before the mark was written.
if grep -qsx "recipe=$recipe" "$tree/server.env" && grep -qE '^thd_size=[1-9][0-9]*$' "$tree/server.env"; then
  exit 0
fi
must_be=
[[ ${2:-} != --must-be ]] || must_be=$3

begin_tree
headers=$work/headers
mkdir "$headers"

# Newest first, by the rules for Debian's versions, which sort(1) does not know.
sort_versions() {
  local sorted=() version i
  while read -r version; do
    i=0
    while ((i < ${#sorted[@]})) && dpkg --compare-versions "${sorted[i]}" gt "$version"; do
      i=$((i + 1))
    done
    sorted=("${sorted[@]:0:i}" "$version" "${sorted[@]:i}")
  done
  ((${#sorted[@]} == 0)) || printf '%s\n' "${sorted[@]}"
}

if [[ -n $must_be ]]; then
  prepare_apt
  list_versions | grep -qxF "$must_be" ||
    die "this machine's server is $name $must_be, and Debian $release has no headers of it: the plugin cannot be built for it"
  # A mirror may list a version for whose source it has no file any more.
  mkdir -p "$work/source"
  may_have_source "$must_be" ||
    die "this machine's server is $name $must_be, and its source cannot be downloaded at the moment, so its headers cannot be had:" \
      "upgrade the server, or try again later; see ${log#"$repo"/}"
  exit 0
fi

# The server alone is half of this. The packages are there at the same time.
needed_mb=1200
free_mb=$(df --output=avail -m "$var/servers/" | tail -n 1)
((free_mb >= needed_mb)) ||
  die "the disk of var/servers has $((free_mb)) MB free, and getting $name takes $needed_mb MB"

started=$SECONDS
say "getting $name and its headers: a download of about $download_mb MB, 600 MB on the disk in the end (about a minute, once)"
prepare_apt
version=
while read -r candidate; do
  if download "$candidate"; then
    version=$candidate
    break
  fi
  say "$candidate is listed but cannot be downloaded whole: trying the next older version"
done < <(list_versions | sort_versions)
[[ -n $version ]] ||
  unavailable "no $name can be had at the moment: Debian $release has no $series with both server and headers; see ${log#"$repo"/}"

say "unpacking $version"
unpack_packages
unpack_headers
for program in "${programs[@]}"; do
  write_wrapper "$program"
  "$work/bin/$program" --no-defaults --version >>"$log" 2>&1 || die "the unpacked $program does not run; see ${log#"$repo"/}"
done
upstream=${version#*:}
upstream=${upstream%%[-+]*}
reported=$("$work/bin/${programs[0]}" --no-defaults --version 2>>"$log")
[[ $reported == *"Ver $upstream"* ]] || die "the unpacked server is not $upstream: $reported"
# Before the mark is written: a failure inside of it would leave a mark without the size.
thd_size=$(server_thd_size "$root/usr/sbin/${programs[0]}" "$create_thd")
rm -rf "$work/source"
end_tree server.env "recipe=$recipe" "name=$name" "kind=$kind" "version=$upstream" "package_version=$version" \
  "thd_size=$thd_size"
say "$name is $version, in var/servers/$name ($((SECONDS - started)) s)"
