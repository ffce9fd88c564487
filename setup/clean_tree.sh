# Clean Debian trees, for what has to be tried on a machine that has nothing. Sourced after common.sh by
# test_deb.sh and documents_tree.sh, never run.
# shellcheck shell=bash

# shellcheck disable=SC2154  # set by common.sh
trees=$var/debian
mkdir -p "$trees"
keyring=/usr/share/keyrings/debian-archive-keyring.gpg
# shellcheck disable=SC2016  # the words in $() are apt's own
site=$(apt-get indextargets --format '$(SITE) $(ORIGIN) $(SUITE)' 'Created-By: Packages' |
  awk '$2 == "Debian" && $1 !~ /security/ {print $1; exit}')
[[ -n $site ]] || die "apt knows no Debian mirror yet: run apt-get update"

# make_tree RELEASE FOLDER: a clean tree, which reaches the mirrors as this machine does.
make_tree() {
  local release=$1 tree=$2 file suite suites
  if [[ ! -e $trees/$release.tar ]]; then
    say "making a clean Debian $release, once"
    rm -rf "${trees:?}/$release"
    quietly "$var/log/debootstrap-$release.log" \
      debootstrap --variant=minbase --include=ca-certificates "$release" "$trees/$release" "$site"
    tar cf "$trees/$release.tar.new" -C "$trees/$release" .
    mv "$trees/$release.tar.new" "$trees/$release.tar"
    rm -rf "${trees:?}/$release"
  fi
  tar xf "$trees/$release.tar" -C "$tree"
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

# in_tree SECONDS TREE COMMAND...: runs it there as root, in rooms of its own for mounts and processes, which end with it. It
# has the machine's network, and no package may change the machine's kernel settings.
in_tree() {
  local seconds=$1 tree=$2 propagation=private
  # In a chroot, / is no mount point, so nothing can be said about it.
  mountpoint -q / || propagation=unchanged
  # shellcheck disable=SC2016  # the inner shell's variables
  timeout --kill-after=10 "$seconds" unshare --mount --pid --fork --kill-child --propagation "$propagation" bash -c '
    mount -t proc proc "$0/proc" && mount --bind "$0/proc/sys" "$0/proc/sys" &&
      mount -o remount,bind,ro "$0/proc/sys" && mount --rbind /dev "$0/dev" &&
      exec env -i HOME=/root LANG=C.UTF-8 DEBIAN_FRONTEND=noninteractive PATH=/usr/sbin:/usr/bin:/sbin:/bin \
        chroot "$0" "$@"' "$tree" "${@:3}" </dev/null
}
