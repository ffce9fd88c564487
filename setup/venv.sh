#!/bin/bash
# Keeps var/venv, a Python with the packages in the given files of pinned requirements.
#
#   setup/venv.sh FILE...
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

venv=$var/venv
# The folder of what is installed is made last: without it an earlier run was interrupted.
if [[ ! -d $venv/installed ]] || ! "$venv/bin/python" -c '' 2>/dev/null; then
  rm -rf "$venv"
  quietly "$var/log/venv.log" python3 -m venv "$venv"
  mkdir "$venv/installed"
fi
for file in "$@"; do
  # A copy of the file that was installed last, so that the same file is not installed twice.
  done=$venv/installed/$(basename "$(dirname "$file")")-$(basename "$file")
  cmp -s "$file" "$done" && continue
  # What it says is not true any more, whatever becomes of the next command.
  rm -f "$done"
  say "installing the Python packages of $file"
  quietly "$var/log/pip.log" "$venv/bin/python" -m pip install --disable-pip-version-check --retries 3 --quiet -r "$file"
  missing=$("$venv/bin/python" setup/not_installed.py "$file")
  [[ -z $missing ]] || die "pip has not installed $missing; see ${var#"$repo"/}/log/pip.log"
  cp "$file" "$done.new"
  mv "$done.new" "$done"
done
