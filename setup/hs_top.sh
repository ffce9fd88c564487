#!/bin/bash
# Makes hs-top one file: tools/hs_top as an archive that Debian's Python runs.
#
#   setup/hs_top.sh FILE
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

file=$1
staging=$(mktemp -d)
trap 'rm -rf "$staging"' EXIT
mkdir "$staging/hs_top"
cp tools/hs_top/*.py "$staging/hs_top/"
mkdir -p "$(dirname "$file")"
python3 -m zipapp "$staging" --main hs_top.start:run --python /usr/bin/python3 --compress --output "$file.new"
chmod 755 "$file.new"
mv "$file.new" "$file"
