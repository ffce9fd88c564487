#!/bin/bash
# make uninstall: takes away what make install has put into this machine's own server.
#
#   setup/uninstall.sh
#
# Refuses as long as the server has the plugin loaded, or has settings of it without which the server would not start:
# without the plugin it does not know them. It starts with those that begin with loose_, and with those that load a library
# which is not there.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"
source setup/own_server.sh

server=$(find_server)
name=$(kind_and_series "$server")
((EUID == 0)) || die "make uninstall writes to the server's folders: run it as root"
# shellcheck source=setup/server_mariadb.sh
source "setup/server_${name%%-*}.sh"
directory=${DESTDIR:-}$(plugin_folder "$server")
# shellcheck disable=SC2154  # set by the file of the kind
sample=${DESTDIR:-}$sample
library=$directory/handlersocket2.so

! grep -qsF "$library" /proc/[0-9]*/maps ||
  die "a running server has loaded $library: run $unload_statement, then make uninstall again"
# Without its values: they may be secrets.
settings=$("$server" --print-defaults 2>/dev/null | grep -oE -- '--(loose[-_])?[a-z_-]*=?handlersocket[a-z0-9_-]*' | sort -u) || true
needed=$(grep -vE -- '^$|^--loose[-_]|=' <<<"$settings" | tr '\n' ' ') || true
[[ -z $needed ]] ||
  die "the server's settings still name the plugin, and without it the server would not start: take these away first: ${needed% }"
[[ -z $settings ]] ||
  say "left in the server's settings, which starts without the plugin all the same: ${settings//$'\n'/ }"

# The sample goes as well, as long as nobody has changed it.
removed=()
for file in "$library" "$bench_program" "$top_program" "$sample"; do
  [[ -e $file ]] || continue
  if [[ $file == "$sample" ]] && ! cmp -s <(sample_settings "$server") "$sample"; then
    say "left $sample, because it was changed"
    continue
  fi
  rm "$file"
  removed+=("$file")
done
((${#removed[@]} > 0)) || die "nothing is installed in $directory"
say "removed ${removed[*]}"
