#!/bin/bash
# The life of the package in a clean Debian tree, as root in a chroot: see setup/test_deb.sh.
#
#   inside.sh KIND      KIND: mariadb or mysql; KIND.sh has what differs between them
set -euo pipefail

kind=$1
# shellcheck source=mariadb.sh
source "/root/package/$kind.sh"
# shellcheck source=repack.sh
source /root/package/repack.sh
plugin=/usr/lib/mysql/plugin/handlersocket2.so
settings_folder=/etc/mysql/$kind.conf.d
# The trees share the machine's ports.
port=$((20000 + RANDOM % 10000))
log=/root/log

# step WORDS COMMAND...: its output is shown only if it fails.
step() {
  local started=$SECONDS code
  # There is no `if` around it, because that would switch off `set -e` inside.
  set +e
  (set -e && "${@:2}") >"$log" 2>&1 </dev/null
  code=$?
  set -e
  if ((code != 0)); then
    tail -n 30 "$log"
    echo "FAILED: $1"
    exit 1
  fi
  echo "   $1 ($((SECONDS - started)) s)"
}

fail() {
  echo "FAILED: $*"
  tail -n 40 "$log"
  # shellcheck disable=SC2086  # a pattern
  tail -n 20 /var/cache/handlersocket2/log/build.log $error_logs 2>/dev/null
  exit 1
}

install_packages() { apt-get -qy --allow-downgrades --no-install-recommends -o Dpkg::Options::=--force-confold install "$@"; }
sql() { "$kind" --batch --skip-column-names -e "$1"; }
restart() { service "$kind" stop && service "$kind" start; }
library() { sha256sum <"$plugin"; }
upstream() { sed 's/^[0-9]*://; s/[-+].*//' <<<"$1"; }
plugins() { sql "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'handlersocket' AND plugin_status = 'ACTIVE'"; }

# The server answers, and is of this version of the package.
is_server() {
  [[ $(dpkg-query --show --showformat '${Version}' "$kind-server-core") == "$1" ]] || fail "the package of the server is not $1"
  [[ $(sql 'SELECT VERSION()') == "$(upstream "$1")"-* ]] || fail "the server is not $1: $(sql 'SELECT VERSION()')"
  [[ $(sql 'SELECT COUNT(*) FROM t.t') == 1 ]] || fail "the server does not answer"
}

# And it has the plugin, which answers at its port.
works_at() {
  is_server "$1"
  [[ $(plugins) == 1 ]] || fail "the plugin is not loaded by $1"
  exec 3<>/dev/tcp/127.0.0.1/$port
  printf 'P\t1\tt\tt\tPRIMARY\ti\n1\t=\t1\t7\n' >&3
  [[ $(head -n 2 <&3 | tail -n 1) == $'0\t1\t7' ]] || fail "the plugin does not answer"
  exec 3>&-
}

without_plugin() {
  is_server "$1"
  [[ $(plugins) == 0 ]] || fail "the plugin is loaded"
}

# What any process of this tree listens at: the numbers of its TCP sockets.
listeners() {
  comm -12 <(readlink /proc/[0-9]*/fd/* 2>/dev/null | sed -n 's/^socket:\[\([0-9]*\)\]$/\1/p' | sort -u) \
    <(awk '$4 == "0A" {print $10}' /proc/net/tcp /proc/net/tcp6 2>/dev/null | sort -u)
}

# The server at version $1, all of its packages.
server_at() {
  printf 'Package: %s\nPin: version %s\nPin-Priority: 1001\n' "$pinned" "$1" >/etc/apt/preferences
  install_packages "${packages[@]}"
}

# line WORDS: the number of the first line of the last step's output that has them.
line() { grep -nm 1 -e "$1" "$log" | cut -d: -f1; }

says_what_to_do() {
  grep -q "cannot build for $kind $1: error: .* run handlersocket2-build and restart the server" "$log" ||
    fail "it does not say what to do"
}

# Without an init system services start only if this program allows it.
printf '#!/bin/sh\nexit 0\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d
mkdir -p "$settings_folder"
# shellcheck disable=SC2059  # it has line ends
printf "$settings" >"$settings_folder/90-test.cnf"
prepare_service

step "package lists" apt-get -q update
mapfile -t versions < <(apt-cache madison "$kind-server-core" | awk -F' *[|] *' '{print $2}' | sort -uV)
new=${versions[-1]}
# A mirror may list a source and not have it. The first server is the oldest whose source is there.
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
step "source lists" apt-get -q update
old=
for version in "${versions[@]}"; do
  if has_source "$version"; then old=$version && break; fi
done
if [[ -z $old ]]; then
  echo "   left out: all that needs a build, because no source of ${versions[*]} can be downloaded here"
fi
now=${old:-$new}

step "the server $now" server_at "$now"
service "$kind" status >/dev/null || step "start" service "$kind" start
sql 'CREATE DATABASE t; CREATE TABLE t.t (i INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t.t VALUES (7);
  CREATE USER handlersocket@localhost; GRANT SELECT ON t.* TO handlersocket@localhost'

step "install of the package" install_packages /root/handlersocket2.deb
hs-bench --help >/dev/null || fail "hs-bench does not run"
# MariaDB's own package restarts it, because there is a new file in /etc/mysql. So the plugin is loaded there if it was built.
shown=$(hs-top --once 2>&1) || fail "hs-top does not run: $shown"
[[ $shown == *"the plugin handlersocket is not loaded"* || $shown == *"requests/s "* ]] || fail "hs-top does not reach the server: $shown"

# The server's program is unpacked anew, and nothing is built for it yet.
server_anew() {
  rm -r "/var/lib/handlersocket2/$kind-${old#*:}"
  step "the server anew, by $1" install_packages --reinstall "$kind-server" "$kind-server-core"
}

# To the version $1, whose headers cannot be had, and back to $old.
to_and_back() {
  local first
  first=$(library)
  step "upgrade to $1 without headers" server_at "$1"
  says_what_to_do "$1"
  [[ ! -e $plugin ]] || fail "a library that does not fit is there"
  without_plugin "$1"
  if [[ -e /root/keyring ]]; then mv /root/keyring "$keyring"; fi

  step "back to $old" server_at "$old"
  works_at "$old"
  [[ $(library) == "$first" ]] || fail "the old build was not chosen"
  ! grep -q "built the plugin for $kind $old" "$log" || fail "the old build was made again"
}

# Debian's next version. The package cannot get its headers while Debian's keys are away.
next_version() {
  local first
  first=$(library)
  keyring=/usr/share/keyrings/debian-archive-keyring.gpg
  cp $keyring /etc/apt/keyring.gpg
  mv $keyring /root/keyring
  sed -i 's,signed-by=[^]]*,signed-by=/etc/apt/keyring.gpg,' /etc/apt/sources.list /etc/apt/sources.list.d/source.list
  to_and_back "$new"
  if has_source "$new"; then
    step "upgrade to $new" server_at "$new"
    works_at "$new"
    [[ $(library) != "$first" ]] || fail "the library is the old one"
    [[ -e /var/lib/handlersocket2/$kind-${old#*:}/handlersocket2.so ]] || fail "the build for $old is gone"
    now=$new
  else
    echo "   left out: the upgrade to $new with headers, because its source cannot be downloaded here"
  fi
}

# Everything that needs a library.
with_builds() {
  local built="handlersocket2: built the plugin"
  grep -q "$built for $kind $old in" "$log" || fail "the package does not say what it did"
  step "restart" restart
  [[ -z $(listeners) ]] || fail "something listens, although nobody has set a port"
  [[ $(plugins) == 1 ]] || fail "the plugin is not loaded"
  sed -i "s/^#\(loose_handlersocket_address.*\)/\1/; s/^#\(loose_handlersocket_port =\).*/\1 $port/; s/^#\(loose_handlersocket_anonymous.*\)/\1/" \
    "$settings_folder/60-handlersocket.cnf"
  step "restart with a port" restart
  works_at "$old"

  # dpkg's trigger alone, without apt's hook: the server has to wait for the build.
  chmod -x /usr/lib/handlersocket2/before_dpkg
  server_anew "dpkg's trigger"
  (($(line "$built") < $(line "^Setting up $kind-server "))) || fail "the trigger did not build before the server started"
  works_at "$old"

  # By apt's hook the plugin is built before the old server is stopped.
  chmod +x /usr/lib/handlersocket2/before_dpkg
  server_anew "apt's hook"
  (($(line "$built") < $(line "^Unpacking $kind-server"))) || fail "the hook did not build before dpkg began"
  works_at "$old"

  # The drop-in of the server's unit.
  if [[ -d /run/systemd/system ]]; then
    rm "$plugin"
    step "restart, by which the unit chooses the library" restart
    works_at "$old"
  fi

  if [[ $new != "$old" ]]; then
    next_version
  else
    step "the server's packages again as $old+test1" offer_as "$old" "$old+test1"
    to_and_back "$old+test1"
    echo "   left out: the upgrade with headers, because Debian has only $old at the moment"
  fi
  hs-top --once | grep -q '^requests/s' || fail "hs-top shows no requests"
}

if [[ -n $old ]]; then
  with_builds
else
  says_what_to_do "$new"
  step "restart" restart
  without_plugin "$new"
fi

step "removal" apt-get -qy remove handlersocket2
[[ ! -e $plugin ]] || fail "the library stays after a removal"
[[ -e $settings_folder/60-handlersocket.cnf ]] || fail "the settings are gone after a removal"
step "restart" restart
without_plugin "$now"
step "purge" apt-get -qy purge handlersocket2
# MariaDB's own package has a handlersocket.so, the original.
left=$(find /etc /usr /var/cache/handlersocket2 /var/lib ! -path '/var/lib/mysql/*' \
  \( -name '*handlersocket2*' -o -name '60-handlersocket*' \) -print 2>/dev/null) || true
[[ -z $left ]] || fail "the purge leaves $left"
step "restart" restart
without_plugin "$now"
step "stop" service "$kind" stop
