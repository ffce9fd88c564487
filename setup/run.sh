#!/bin/bash
# make run: everything from nothing to a running demo server.
#
#   setup/run.sh NAME [SETTINGS-FILE] [PORT] [PORT-WR] [REDIS-PORT] [MEMCACHED-PORT]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
server_release "$name" >/dev/null
settings=${2:-}
if [[ -n $settings ]]; then
  [[ -f $settings && -r $settings ]] || die "MYCNF=$settings: there is no such file, or it cannot be read"
  grep -qiE '^ *(\[(mysqld|server|mariadb|mariadbd)(-[0-9.]+)?\]|!include)' "$settings" ||
    die "MYCNF=$settings: it has no [mysqld], so the server would ignore all of it"
  [[ -z $(find -L "$settings" -perm -o+w) ]] || die "MYCNF=$settings: anyone may write to it, so the server would ignore it"
fi
port=${3:-9998}
port_wr=${4:-9999}
redis_port=${5:-6380}
memcached_port=${6:-11311}
is_port() { [[ $1 =~ ^[0-9]{1,5}$ ]] && ((10#$1 >= 1 && 10#$1 <= 65535)); }
is_port "$port" || die "PORT=$port: a port is a number from 1 to 65535"
is_port "$port_wr" || die "PORT_WR=$port_wr: a port is a number from 1 to 65535"
is_port "$redis_port" || die "REDIS_PORT=$redis_port: a port is a number from 1 to 65535"
is_port "$memcached_port" || die "MEMCACHED_PORT=$memcached_port: a port is a number from 1 to 65535"
((10#$port != 10#$port_wr)) || die "PORT and PORT_WR are both $port"
((10#$redis_port != 10#$port && 10#$redis_port != 10#$port_wr)) || die "REDIS_PORT is $redis_port, as another port"
((10#$memcached_port != 10#$port && 10#$memcached_port != 10#$port_wr && 10#$memcached_port != 10#$redis_port)) ||
  die "MEMCACHED_PORT is $memcached_port, as another port"

setup/packages.sh build top
setup/server.sh "$name"
setup/build.sh "$name"
# To try the demo with: at the same place for every server.
setup/build.sh "$name" hs-bench
mkdir -p "$var/bin"
ln -sfn "$repo/build/$name/bench/hs-bench" "$var/bin/hs-bench"
setup/hs_top.sh "$var/bin/hs-top"
exec python3 setup/demo.py run "var/servers/$name" ${settings:+--settings "$settings"} \
  --port "$port" --port-wr "$port_wr" --redis-port "$redis_port" --memcached-port "$memcached_port"
