#!/bin/bash
# Gets the caches with which the benchmarks and tests compare into var/peers, installing nothing and changing nothing on
# the machine: the newest Valkey, Redis and memcached that Debian has, which are those of sid, whatever this machine is.
#
# Leaves there
#   root/       the unpacked programs and every library that they need
#   bin/        wrappers that run them with root/'s own loader and libraries
#   peers.env   the recipe; written last, so it also says "complete"
# A second run finds peers.env and needs no network.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source setup/unpack.sh

# Raise it when this script's results change: trees of an older recipe are made again.
recipe=4
# The packages, and their programs. memccapable, which is memcapable elsewhere, asks a server whether it is a memcached.
packages=(valkey-server redis-server memcached libmemcached-tools)
programs=(valkey-server redis-server memcached redis-cli memccapable)

# shellcheck disable=SC2034  # variables that unpack.sh needs
name="Valkey, Redis and memcached" release=sid
lock_tree "$var/peers" peers
if grep -qsx "recipe=$recipe" "$tree/peers.env"; then
  exit 0
fi

begin_tree
[[ $(dpkg --print-architecture) == amd64 ]] || die "only amd64 is supported"
say "getting $name: a download of about 30 MB (once)"
prepare_apt
apt-get -qy --download-only install "${packages[@]}" >>"$log" 2>&1 ||
  unavailable "$name cannot be downloaded at the moment; see ${log#"$repo"/}"
unpack_packages
for program in "${programs[@]}"; do
  write_wrapper "$program"
  "$work/bin/$program" --version >>"$log" 2>&1 || die "the unpacked $program does not run; see ${log#"$repo"/}"
done
end_tree peers.env "recipe=$recipe"
say "$name are in ${tree#"$repo"/}"
