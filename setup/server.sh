#!/bin/bash
# Gets a database server and its matching private headers into var/servers/NAME,
# installing nothing and changing nothing on the machine.
#
#   setup/server.sh NAME            NAME: one of `servers` in common.sh
#
# Leaves there
#   root/        the unpacked server, its clients, its plugins and every library they need
#   headers/     the server's private headers, of exactly the server's version
#   bin/         wrappers that run the programs of root/ with root/'s own loader and libraries
#   server.env   what was got, one key=value a line; written last, so it also says "complete"
# A second run finds server.env and needs no network.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# Raise it when what this script leaves changes: trees of an older recipe are made anew.
recipe=1

name=$1
release=$(server_release "$name")
kind=${name%%-*}
series=${name#*-}
# What differs by kind: which packages, which headers, which programs.
# shellcheck source=setup/server_mariadb.sh
source "setup/server_$kind.sh"

tree=$var/servers/$name
mkdir -p "$var/servers"
exec 9>"$tree.lock"
flock -w 600 9 || die "another run has been getting $name for ten minutes"
if grep -qsx "recipe=$recipe" "$tree/server.env"; then
  exit 0
fi

# The tree grows beside its final place: one that was broken off is never mistaken for a whole one.
work=$tree.partial
root=$work/root
headers=$work/headers
log=$var/log/server-$name.log
apt=$work/apt
rm -rf "$work"
mkdir -p "$headers"
: >"$log"

# Prints "<address> <suite>": where $release and its security updates are to be had. The addresses are
# those of this machine's own release, unless its settings name $release, too. A suite's codename
# is known only once its lists were fetched, which on a fresh machine they may not have been.
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
        # Where there are no security updates of a release there is no such suite.
        [[ $suite != sid-security ]] || continue
        if [[ $named == "$suite" || $codename == "$suite" ]]; then
          echo "1 $site $suite"
        elif [[ $named == "$own${suite#"$release"}" || $codename == "$own${suite#"$release"}" ]]; then
          echo "2 $site $suite"
        fi
      done
    done | sort -u | sort -s -u -k3,3 | cut -d ' ' -f 2-
}

# A private apt: its own sources, state, cache and (empty) list of installed packages. Only
# the settings for downloading, a proxy say, are the machine's.
prepare_apt() {
  local keyring=/usr/share/keyrings/debian-archive-keyring.gpg mirrors site suite
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
  apt-get -q update >>"$log" 2>&1 </dev/null ||
    unavailable "no $name can be had at the moment: the package lists of Debian $release cannot be read; see ${log#"$repo"/}"
}

# Newest first by the rules of Debian's versions, which sort(1) does not know.
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

# write_wrapper PROGRAM: bin/PROGRAM runs root's own, also after the repository was moved.
write_wrapper() {
  local program=$1 at
  at=usr/bin/$program
  [[ -e $root/$at ]] || at=usr/sbin/$program
  [[ -x $root/$at ]] || die "$program is missing from the server's packages"
  cat >"$work/bin/$program" <<WRAPPER
#!/bin/sh
# Made by setup/server.sh: runs the unpacked $program with its own loader and libraries.
root=\$(dirname "\$(readlink -f "\$0")")/../root
exec "\$root/usr/lib64/ld-linux-x86-64.so.2" --library-path "\$root/usr/lib/x86_64-linux-gnu" "\$root/$at" "\$@"
WRAPPER
  chmod +x "$work/bin/$program"
}

[[ $(dpkg --print-architecture) == amd64 ]] || die "only amd64 is supported"
started=$SECONDS
say "getting $name and its headers (about a minute, once)"
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
mkdir "$work/bin"
for program in "${programs[@]}"; do
  write_wrapper "$program"
done
upstream=${version#*:}
upstream=${upstream%%[-+]*}
reported=$("$work/bin/${programs[0]}" --no-defaults --version 2>>"$log") || die "the unpacked server does not run: $reported"
[[ $reported == *"Ver $upstream"* ]] || die "the unpacked server is not $upstream: $reported"
cat >"$work/server.env.new" <<ENV
recipe=$recipe
name=$name
kind=$kind
version=$upstream
package_version=$version
thd_size=$(server_thd_size "$root/usr/sbin/${programs[0]}" "$create_thd")
ENV
rm -rf "$apt" "$work/source"
mv "$work/server.env.new" "$work/server.env"
rm -rf "$tree"
mv "$work" "$tree"
say "$name is $version, in var/servers/$name ($((SECONDS - started)) s)"
