#!/bin/bash
# Stands in for systemd's systemctl in a tree where no systemd runs: starts and stops a service as its
# unit and the drop-ins beside the unit say, for a server that comes without an init script. It knows
# what the scripts of Debian's packages ask, and those lines of a unit that MySQL's has.
set -euo pipefail

words=()
for word in "$@"; do [[ $word == -* ]] || words+=("$word"); done
action=${words[0]:-}
service=${words[1]:-}
service=${service%.service}
loaded=/run/systemd/loaded/$service
pid=/run/systemd/$service.pid

# As in systemd, what was changed in a unit counts after a daemon-reload.
load() {
  mkdir -p "${loaded%/*}"
  cat "/usr/lib/systemd/system/$service.service" {/usr/lib,/etc}/systemd/system/"$service".service.d/*.conf >"$loaded" 2>/dev/null || true
  [[ -s $loaded ]]
}

# The values of a setting, one a line.
values() { sed -n "s/^$1=//p" "$loaded"; }

active() { start-stop-daemon --status --pidfile "$pid"; }

start() {
  local user group folder line prefix command clean
  ! active || return 0
  [[ -e $loaded ]] || load || { echo "no unit is called $service" && return 5; }
  user=$(values User) group=$(values Group)
  for folder in $(values RuntimeDirectory); do
    install -d -m "$(values RuntimeDirectoryMode)" -o "$user" -g "$group" "/run/$folder"
  done
  clean=(env -i PATH=/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin)
  while read -r line; do
    command=${line##[-+]} command=${command##[-+]}
    prefix=${line%"$command"}
    [[ $prefix == *+* || $(values PermissionsStartOnly) == true ]] || command="runuser -u $user -- $command"
    # shellcheck disable=SC2086  # a command with its arguments
    "${clean[@]}" $command </dev/null || [[ $prefix == *-* ]] || { echo "ExecStartPre=$line failed" && return 1; }
  done < <(values ExecStartPre)
  # A machine may allow less.
  ulimit -n "$(values LimitNOFILE | tail -n 1)" 2>/dev/null || true
  command=$(values ExecStart)
  # shellcheck disable=SC2046,SC2086  # a command with its arguments
  "${clean[@]}" $(values Environment) start-stop-daemon --start --background --notify-await --notify-timeout 120 \
    --pidfile "$pid" --make-pidfile --chuid "$user:$group" --startas ${command%% *} -- ${command#"${command%% *}"}
}

stop() {
  local folder
  [[ -e $pid ]] || return 0
  start-stop-daemon --stop --oknodo --retry TERM/120 --pidfile "$pid" --remove-pidfile
  for folder in $(values RuntimeDirectory); do rm -rf "/run/$folder"; done
}

case $action in
  start) start ;;
  stop) stop ;;
  restart) stop && start ;;
  status | is-active) active ;;
  # Debian enables every service that is installed.
  is-enabled) [[ -e /usr/lib/systemd/system/$service.service ]] && echo enabled ;;
  daemon-reload)
    for loaded in /run/systemd/loaded/*; do
      service=${loaded##*/}
      [[ ! -e $loaded ]] || load || rm "$loaded"
    done
    ;;
esac
