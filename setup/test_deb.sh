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
base=$var/debian
mkdir -p "$base"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2016  # the words in $() are apt's own
site=$(apt-get indextargets --format '$(SITE) $(ORIGIN) $(SUITE)' 'Created-By: Packages' |
  awk '$2 == "Debian" && $1 !~ /security/ {print $1; exit}')
[[ -n $site ]] || die "apt knows no Debian mirror yet: run apt-get update"

# make_tree RELEASE FOLDER: a clean tree, which reaches the mirrors as this machine does.
make_tree() {
  local release=$1 tree=$2 file suite suites
  if [[ ! -e $base/$release.tar ]]; then
    say "making a clean Debian $release, once"
    rm -rf "${base:?}/$release"
    quietly "$var/log/debootstrap-$release.log" \
      debootstrap --variant=minbase --include=ca-certificates "$release" "$base/$release" "$site"
    tar cf "$base/$release.tar.new" -C "$base/$release" .
    mv "$base/$release.tar.new" "$base/$release.tar"
    rm -rf "${base:?}/$release"
  fi
  tar xf "$base/$release.tar" -C "$tree"
  suites=("$release")
  if [[ $release == sid ]]; then
    # As setup/unpack.sh: a mirror may be some days behind.
    echo 'Acquire::Check-Valid-Until "false";' >"$tree/etc/apt/apt.conf.d/91sid"
  else
    suites+=("$release-updates" "$release-security")
  fi
  for suite in "${suites[@]}"; do
    echo "deb [signed-by=$keyring] $site$([[ $suite != *-security ]] || echo -security) $suite main"
  done >"$tree/etc/apt/sources.list"
  rm -f "$tree"/etc/apt/sources.list.d/*
  for file in /etc/resolv.conf /etc/hosts; do cp -L "$file" "$tree$file"; done
  cp /etc/ssl/certs/ca-certificates.crt "$tree/etc/ssl/certs/"
  apt-config dump | grep -E '^Acquire::(http|https|Retries)' >"$tree/etc/apt/apt.conf.d/90machine" || true
}

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
  tree=$(mktemp -d "$base/$release.XXXXXX")
  trap 'rm -rf --one-file-system "$tree"' EXIT
  make_tree "$release" "$tree"
  cp "$package" "$tree/root/handlersocket2.deb"
  cp -r tests/package "$tree/root/"
  # The mounts and the processes end with the command. No package may change the machine's kernel settings.
  # shellcheck disable=SC2016  # the inner shell's variable
  timeout --kill-after=10 1800 unshare --mount --pid --fork --kill-child --propagation private bash -c '
    mount -t proc proc "$0/proc" && mount --bind "$0/proc/sys" "$0/proc/sys" &&
      mount -o remount,bind,ro "$0/proc/sys" && mount --rbind /dev "$0/dev" &&
      exec env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        chroot "$0" bash /root/package/inside.sh "$1"' "$tree" "$kind" </dev/null
)

(($# > 0)) || set -- bookworm trixie sid
for release in "$@"; do
  kind=$(server_kind "$release")
  check "the package in a clean Debian $release, with $kind" test_in "$release" "$kind"
done
summarise
