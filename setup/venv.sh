#!/bin/bash
# Keeps var/venv, a Python with the packages that the given files of pinned requirements name.
#
#   setup/venv.sh FILE...
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

venv=$var/venv
if [[ ! -x $venv/bin/python ]] || ! "$venv/bin/python" -c '' 2>/dev/null; then
  rm -rf "$venv"
  quietly "$var/log/venv.log" python3 -m venv "$venv"
fi
for file in "$@"; do
  # The file as it was when it was last installed; the same file is not asked for twice.
  done=$venv/installed/$(basename "$(dirname "$file")")-$(basename "$file")
  cmp -s "$file" "$done" && continue
  say "installing the Python packages of $file"
  quietly "$var/log/pip.log" "$venv/bin/python" -m pip install --disable-pip-version-check --quiet -r "$file"
  mkdir -p "$(dirname "$done")"
  cp "$file" "$done"
done
