#!/bin/bash
# make test-deb: the Debian package in clean Debian trees, with servers from Debian's own packages.
#
#   setup/test_deb.sh [RELEASE...]      by default bookworm, trixie and sid
#
# The server is the one of this release in setup/common.sh. tests/package/inside.sh is what happens in a
# tree. A tree shares the machine's network, because the packages come over it. Its processes have a room
# of their own and end with it.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

((EUID == 0)) || die "make test-deb makes Debian trees: run it as root"
setup/deb.sh
package=$(echo build/deb/handlersocket2_*.deb)
source setup/clean_tree.sh

# server_kind RELEASE: the kind of its server in the list of setup/common.sh.
server_kind() {
  local server
  for server in "${servers[@]}"; do
    [[ ${server#*:} != "$1" ]] || { echo "${server%%-*}" && return; }
  done
  die "no server is known for Debian $1"
}

test_in() (
  release=$1
  kind=$2
  tree=$(mktemp -d "$trees/$release.XXXXXX")
  trap 'rm -rf --one-file-system "$tree"' EXIT
  make_tree "$release" "$tree"
  cp "$package" "$tree/root/handlersocket2.deb"
  cp -r tests/package "$tree/root/"
  in_tree 1800 "$tree" bash /root/package/inside.sh "$kind"
)

(($# > 0)) || set -- bookworm trixie sid
for release in "$@"; do
  kind=$(server_kind "$release")
  check "the package in a clean Debian $release, with $kind" test_in "$release" "$kind"
done
summarise
