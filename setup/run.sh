#!/bin/bash
# make run: everything from nothing to a running demo server.
#
#   setup/run.sh NAME [SETTINGS-FILE]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
server_release "$name" >/dev/null
settings=${2:-}
if [[ -n $settings ]]; then
  [[ -f $settings && -r $settings ]] || die "MYCNF=$settings: there is no such file, or it cannot be read"
  [[ -z $(find -L "$settings" -perm -o+w) ]] || die "MYCNF=$settings: anyone may write to it, so the server would ignore it"
fi

setup/packages.sh build
setup/server.sh "$name"
setup/build.sh "$name"
exec python3 setup/demo.py run "var/servers/$name" ${settings:+--settings "$settings"}
