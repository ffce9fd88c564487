#!/bin/bash
# The life of the package in a clean Debian tree, as root in a chroot: see setup/test_deb.sh. Without
# systemd the server's own init script starts it.
set -euo pipefail

plugin=/usr/lib/mysql/plugin/handlersocket2.so
# The trees share the machine's ports.
port=$((20000 + RANDOM % 10000))
log=/root/log

# step WORDS COMMAND...: its output is shown only if it fails.
step() {
  local started=$SECONDS
  if ! "${@:2}" >"$log" 2>&1 </dev/null; then
    tail -n 30 "$log"
    echo "FAILED: $1"
    exit 1
  fi
  echo "   $1 ($((SECONDS - started)) s)"
}

fail() {
  echo "FAILED: $*"
  tail -n 40 "$log"
  tail -n 20 /var/cache/handlersocket2/log/build.log /var/lib/mysql/*.err 2>/dev/null
  exit 1
}

install() { apt-get -qy --allow-downgrades --no-install-recommends -o Dpkg::Options::=--force-confold install "$@"; }
sql() { mariadb --batch --skip-column-names -e "$1"; }
restart() { service mariadb stop && service mariadb start; }
library() { sha256sum <"$plugin"; }

# The server answers, is of this version, and has the plugin, which answers at its port.
works_at() {
  [[ $(sql 'SELECT VERSION()') == "$1"-* ]] || fail "the server is not $1: $(sql 'SELECT VERSION()')"
  [[ $(sql "SELECT plugin_status FROM information_schema.plugins WHERE plugin_name = 'handlersocket'") == ACTIVE ]] ||
    fail "the plugin is not loaded by $1"
  exec 3<>/dev/tcp/127.0.0.1/$port
  printf 'P\t1\tt\tt\tPRIMARY\ti\n1\t=\t1\t7\n' >&3
  [[ $(head -n 2 <&3 | tail -n 1) == $'0\t1\t7' ]] || fail "the plugin does not answer"
  exec 3>&-
}

without_plugin() {
  [[ $(sql 'SELECT COUNT(*) FROM t.t') == 1 ]] || fail "the server does not answer"
  [[ -z $(sql "SELECT 1 FROM information_schema.plugins WHERE plugin_name = 'handlersocket'") ]] || fail "the plugin is loaded"
}

# Without an init system services start only if this program allows it.
printf '#!/bin/sh\nexit 0\n' >/usr/sbin/policy-rc.d
chmod +x /usr/sbin/policy-rc.d

# Nothing but Unix sockets and the plugin's port.
mkdir -p /etc/mysql/mariadb.conf.d
printf '[mariadbd]\nskip_networking\ninnodb_buffer_pool_size=32M\n' >/etc/mysql/mariadb.conf.d/90-test.cnf

step "package lists" apt-get -q update
mapfile -t versions < <(apt-cache madison mariadb-server-core | awk -F' *[|] *' '{print $2}' | sort -uV)
new=${versions[-1]}
# A mirror may list a source and not have it. The first server is the oldest whose source is there.
sed 's/^deb /deb-src /' /etc/apt/sources.list >/etc/apt/sources.list.d/source.list
step "source lists" apt-get -q update
has_source() { (cd /tmp && apt-get -q source --download-only --dsc-only "mariadb=$1") >"$log" 2>&1; }
old=
for version in "${versions[@]}"; do
  if has_source "$version"; then old=$version && break; fi
done
if [[ -z $old ]]; then
  echo "   left out: all that needs a build, because no source of ${versions[*]} can be downloaded here"
fi
first_version=${old:-$new}
upstream() { sed 's/^[0-9]*://; s/[-+].*//' <<<"$1"; }
# The server at version $1, all of its packages.
server_at() {
  printf 'Package: *mariadb*\nPin: version %s\nPin-Priority: 1001\n' "$1" >/etc/apt/preferences
  install mariadb-server mariadb-server-core mariadb-client mariadb-client-core mariadb-common libmariadb3
}

step "the server $first_version" server_at "$first_version"
service mariadb status >/dev/null || step "start" service mariadb start
sql 'CREATE DATABASE t; CREATE TABLE t.t (i INT PRIMARY KEY) ENGINE=InnoDB; INSERT INTO t.t VALUES (7);
  CREATE USER handlersocket@localhost; GRANT SELECT ON t.* TO handlersocket@localhost'

step "install of the package" install /root/handlersocket2.deb
[[ -x /usr/bin/hs-bench ]] || fail "hs-bench is missing"
# The server's own package restarts it, because there is a new file in /etc/mysql. So the plugin is loaded if it was built.
shown=$(hs-top --once 2>&1) || fail "hs-top does not run: $shown"
[[ $shown == *"the plugin handlersocket is not loaded"* || $shown == *"requests/s "* ]] || fail "hs-top does not reach the server: $shown"

# Everything that needs a library.
with_builds() {
  grep -q "handlersocket2: built the plugin for mariadb $old in" "$log" || fail "the package does not say what it did"
  step "restart" restart
  (exec 3<>/dev/tcp/127.0.0.1/$port) 2>/dev/null && fail "it listens, although nobody has set a port"
  [[ $(sql "SELECT COUNT(*) FROM information_schema.plugins WHERE plugin_name = 'handlersocket'") == 1 ]] || fail "the plugin is not loaded"
  sed -i "s/^#\(loose_handlersocket_address.*\)/\1/; s/^#\(loose_handlersocket_port =\).*/\1 $port/; s/^#\(loose_handlersocket_anonymous.*\)/\1/" /etc/mysql/mariadb.conf.d/60-handlersocket.cnf
  step "restart with a port" restart
  works_at "$(upstream "$old")"

  # The server's program is unpacked anew, and nothing is built for it yet. dpkg's trigger alone, without
  # apt's hook: the server has to wait for the build.
  build=/var/lib/handlersocket2/mariadb-${old#*:}
  again() { install --reinstall mariadb-server mariadb-server-core; }
  # line WORDS: the number of the first line of the last step's output that has them.
  line() { grep -nm 1 -e "$1" "$log" | cut -d: -f1; }
  built="handlersocket2: built the plugin"
  chmod -x /usr/lib/handlersocket2/before_dpkg
  rm -r "$build"
  step "the server anew, by dpkg's trigger" again
  (($(line "$built") < $(line "^Setting up mariadb-server "))) || fail "the trigger did not build before the server started"
  works_at "$(upstream "$old")"

  # By apt's hook the plugin is built before the old server is stopped.
  chmod +x /usr/lib/handlersocket2/before_dpkg
  rm -r "$build"
  step "the server anew, by apt's hook" again
  (($(line "$built") < $(line "^Unpacking mariadb-server"))) || fail "the hook did not build before dpkg began"
  works_at "$(upstream "$old")"
  first=$(library)

  # The next version, with headers that cannot be had: the server starts without the plugin.
  [[ $new != "$old" ]] || echo "   left out: the upgrade, because Debian has only $old at the moment"
  if [[ $new != "$old" ]]; then
    keyring=/usr/share/keyrings/debian-archive-keyring.gpg
    cp $keyring /etc/apt/keyring.gpg
    mv $keyring /root/keyring
    sed -i 's,signed-by=[^]]*,signed-by=/etc/apt/keyring.gpg,' /etc/apt/sources.list /etc/apt/sources.list.d/source.list
    step "upgrade to $new without headers" server_at "$new"
    grep -q "cannot build for mariadb $new: error: .* run handlersocket2-build and restart the server" "$log" ||
      fail "it does not say what to do"
    [[ ! -e $plugin ]] || fail "a library that does not fit is there"
    without_plugin
    mv /root/keyring $keyring

    step "back to $old" server_at "$old"
    works_at "$(upstream "$old")"
    [[ $(library) == "$first" ]] || fail "the old build was not chosen"
    ! grep -q "$built for mariadb $old" "$log" || fail "the old build was made again"

    if has_source "$new"; then
      step "upgrade to $new" server_at "$new"
      works_at "$(upstream "$new")"
      [[ $(library) != "$first" ]] || fail "the library is the old one"
      [[ -e $build/handlersocket2.so ]] || fail "the build for $old is gone"
    else
      echo "   left out: the upgrade to $new with headers, because its source cannot be downloaded here"
    fi
  fi
}

if [[ -n $old ]]; then
  with_builds
else
  grep -q "cannot build for mariadb $new: error: .* run handlersocket2-build and restart the server" "$log" ||
    fail "it does not say what to do"
  step "restart" restart
  without_plugin
fi

[[ -z $old ]] || hs-top --once | grep -q '^requests/s' || fail "hs-top shows no requests"

step "removal" apt-get -qy remove handlersocket2
[[ ! -e $plugin ]] || fail "the library stays after a removal"
step "restart" restart
without_plugin
step "purge" apt-get -qy purge handlersocket2
# MariaDB's own package has a handlersocket.so, the original.
left=$(find /etc /usr /var/cache/handlersocket2 /var/lib ! -path '/var/lib/mysql/*' \
  \( -name '*handlersocket2*' -o -name '60-handlersocket*' \) -print 2>/dev/null) || true
[[ -z $left ]] || fail "the purge leaves $left"
step "restart" restart
without_plugin
step "stop" service mariadb stop
