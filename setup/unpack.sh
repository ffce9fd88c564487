# How Debian's packages are downloaded and unpacked, without installing anything. Scripts that need
# it source this file; it is never run. They set `name` (what they want) and `release` (of Debian), and then
#
#   lock_tree TREE LOG     nobody else makes this tree now; they look themselves whether it is there already
#   begin_tree             an empty tree beside its final place
#   prepare_apt, ...       what they put into it
#   end_tree MARK LINE...  moves it to its final place, with these lines in its file MARK
# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of the script that sources this one

# lock_tree TREE LOG: sets the places `tree`, `work`, `root` and `apt`, and the file `log`.
lock_tree() {
  tree=$1 work=$1.partial root=$1.partial/root apt=$1.partial/apt log=$var/log/$2.log
  mkdir -p "$(dirname "$tree")"
  exec 9>"$tree.lock"
  flock -w 600 9 || die "another run has been getting ${tree#"$repo"/} for ten minutes"
}

# The tree is made beside its final place, so that an unfinished tree is never taken for a complete one. Whatever ends the
# script removes it; a success has moved it.
begin_tree() {
  trap 'rm -rf "$work"' EXIT
  rm -rf "$work"
  mkdir -p "$work/bin"
  : >"$log"
}

# end_tree MARK LINE...
end_tree() {
  rm -rf "$apt"
  printf '%s\n' "${@:2}" >"$work/$1"
  rm -rf "$tree"
  mv "$work" "$tree"
}

# Prints "<address> <suite>": where the packages of $release and its security updates are. The
# addresses are those of this machine's own release, unless its settings also name $release. A
# suite's codename is known only after its lists were fetched, which may not have happened on a
# fresh machine.
find_mirrors() {
  local detail own
  # shellcheck source=/dev/null
  own=$(. /etc/os-release && echo "$VERSION_CODENAME")
  # shellcheck disable=SC2016  # the words in $() are apt's own
  for detail in --release-info --no-release-info; do
    apt-get indextargets "$detail" --format '$(SITE) $(RELEASE) $(CODENAME)' 'Created-By: Packages' 2>>"$log"
  done |
    while read -r site named codename; do
      [[ $site != cdrom:* ]] || continue
      for suite in "$release" "$release-security"; do
        # If a release has no security updates, there is no such suite.
        [[ $suite != sid-security ]] || continue
        if [[ $named == "$suite" || $codename == "$suite" ]]; then
          echo "1 $site $suite"
        elif [[ $named == "$own${suite#"$release"}" || $codename == "$own${suite#"$release"}" ]]; then
          echo "2 $site $suite"
        fi
      done
    done | sort -u | sort -s -u -k3,3 | cut -d ' ' -f 2-
}

# A private apt with its own sources, state, cache and (empty) list of installed packages. Only the
# settings for downloads, such as a proxy, come from the machine.
prepare_apt() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirrors site suite failed=
  [[ -r $keyring ]] || die "$keyring is missing: install debian-archive-keyring"
  mirrors=$(find_mirrors)
  grep -q " $release\$" <<<"$mirrors" ||
    unavailable "this machine's apt sources name no mirror for Debian $release main; add one to /etc/apt/sources.list"
  mkdir -p "$apt"/{state/lists/partial,cache/archives/partial,etc/apt.conf.d}
  : >"$apt/status"
  while read -r site suite; do
    printf '%s [signed-by=%s] %s %s main\n' deb "$keyring" "$site" "$suite" deb-src "$keyring" "$site" "$suite"
  done <<<"$mirrors" >"$apt/sources.list"
  {
    apt-config dump | grep '^Acquire::' | grep -v '^Acquire::\(GzipIndexes\|Languages\|Changelogs\)' || true
    cat <<CONF
Dir::Etc "$apt/etc";
Dir::Etc::sourcelist "$apt/sources.list";
Dir::Etc::sourceparts "/dev/null";
Dir::Etc::preferences "$apt/preferences";
Dir::Etc::preferencesparts "/dev/null";
Dir::Etc::netrc "/etc/apt/auth.conf";
Dir::Etc::netrcparts "/etc/apt/auth.conf.d";
Dir::State "$apt/state";
Dir::State::status "$apt/status";
Dir::Cache "$apt/cache";
APT::Install-Recommends "false";
APT::Sandbox::User "";
Acquire::Languages "none";
Acquire::Check-Valid-Until "$([[ $release == sid ]] && echo false || echo true)";
Acquire::Retries "3";
Debug::NoLocking "true";
CONF
  } >"$apt/apt.conf"
  : >"$apt/preferences"
  export APT_CONFIG=$apt/apt.conf
  apt_update "$apt/update.log" || failed=yes
  cat "$apt/update.log" >>"$log"
  ! no_network "$apt/update.log" ||
    unavailable "no network: no mirror of Debian $release answers, so $name cannot be had; see ${log#"$repo"/}"
  [[ -z $failed ]] ||
    unavailable "no $name can be had at the moment: the package lists of Debian $release cannot be read; see ${log#"$repo"/}"
}

unpack_packages() {
  local directory package
  for directory in bin sbin lib lib64; do
    mkdir -p "$root/usr/$directory"
    ln -s "usr/$directory" "$root/$directory"
  done
  for package in "$apt"/cache/archives/*.deb; do
    dpkg-deb --fsys-tarfile "$package" | tar xf - -C "$root" --keep-directory-symlink --no-same-owner \
      --exclude='./usr/share/doc*' --exclude='./usr/share/man' --exclude='./usr/share/locale' \
      --exclude='./usr/share/perl*' --exclude='./usr/lib/*/perl*' --exclude='./dev' ||
      die "cannot unpack $(basename "$package"); is the disk full?"
  done
}

# write_wrapper PROGRAM [LIBRARIES]: bin/PROGRAM runs the program in root/, even after the repository was moved. The
# loader and the libraries are those of root/, or of another tree's: LIBRARIES is its path, seen from bin/.
write_wrapper() {
  local program=$1 libraries=${2:-../root} at
  at=usr/bin/$program
  [[ -e $root/$at ]] || at=usr/sbin/$program
  [[ -x $root/$at ]] || die "$program is missing from the packages"
  cat >"$work/bin/$program" <<WRAPPER
#!/bin/sh
# Made by setup/${0##*/}: runs the unpacked $program with its own loader and libraries.
bin=\$(dirname "\$(readlink -f "\$0")")
libraries=\$bin/$libraries/usr/lib/x86_64-linux-gnu
exec "\$libraries/ld-linux-x86-64.so.2" --library-path "\$libraries" "\$bin/../root/$at" "\$@"
WRAPPER
  chmod +x "$work/bin/$program"
}
