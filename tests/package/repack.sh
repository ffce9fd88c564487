# Another version of the server, where Debian has only one: see inside.sh, which sources it.
# shellcheck shell=bash
# shellcheck disable=SC2154  # variables of inside.sh

# other_build_id PROGRAM: the same program, built anew as it seems.
other_build_id() {
  python3 - "$1" "$(readelf -n "$1" | sed -n 's/^ *Build ID: //p')" <<'PYTHON'
import pathlib, sys

program, build_id = pathlib.Path(sys.argv[1]), bytes.fromhex(sys.argv[2])
content = program.read_bytes()
assert len(build_id) > 8 and content.count(build_id) == 1
program.write_bytes(content.replace(build_id, build_id[::-1]))
PYTHON
}

# offer_as OLD NEW: from now on apt also has the server's packages of the version OLD as NEW. The
# program has another build ID. Nobody has headers of NEW.
offer_as() {
  local old=$1 new=$2 repository=/root/repository package file
  mkdir "$repository" && cd "$repository" || return
  for package in "$kind-server" "$kind-server-core"; do
    apt-get -q download "$package=$old"
    dpkg-deb --raw-extract "$package"_*.deb tree
    rm "$package"_*.deb
    sed -i "s/^Version: .*/Version: $new/; s/(= $old)/(= $new)/g" tree/DEBIAN/control
    [[ ! -e tree$program ]] || other_build_id "tree$program"
    dpkg-deb -Znone --build tree .
    rm -r tree
  done
  for file in *.deb; do
    dpkg-deb --field "$file"
    printf '%s\n' "Filename: ./$file" "Size: $(stat -c %s "$file")" "SHA256: $(sha256sum "$file" | cut -d ' ' -f 1)" ""
  done >Packages
  cd /
  echo "deb [trusted=yes] file:$repository ./" >/etc/apt/sources.list.d/repository.list
  apt-get -q update
}
