#!/bin/bash
# make bench-clients: our client libraries beside others, from nothing to the table; docs/clients.md says what it holds.
#
#   setup/bench_clients.sh NAME [--quick] [--only LANGUAGE] [--callers N] [--rounds N] [--add] [--report] [--write]
#
# The other libraries are those that bench/clients pins. They are put into var/, and nothing into the sources.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
built=$var/clients/bench
log=$var/log/bench-clients.log
peers=bench/clients

build_go() {
  local go
  setup/packages.sh go
  go=$(setup/go.sh)
  mkdir -p "$built/go"
  (cd "$peers/go" && quietly "$log" "$go/go" build -mod=readonly -o "$built/go/bench" .)
}

build_java() {
  local java=$built/java
  mkdir -p "$java/program"
  setup/packages.sh java
  quietly "$log" mvn -B -f clients/java -DbuildDirectory="$java/client" compile
  if ! cmp -s "$peers/java/pom.xml" "$java/pom.xml"; then
    rm -rf "${java:?}/lib"
    quietly "$log" mvn -B -f "$peers/java" -DbuildDirectory="$java/peers" dependency:copy-dependencies -DoutputDirectory="$java/lib"
    cp "$peers/java/pom.xml" "$java/pom.xml"
  fi
  quietly "$log" javac -nowarn --release 17 -cp "$java/client/classes:$java/lib/*" -d "$java/program" "$peers"/java/*.java
}

build_node() {
  local node=$built/node
  setup/test_client_node.sh build
  mkdir -p "$node"
  if ! cmp -s "$peers/node/package-lock.json" "$node/installed"; then
    rm -rf "$node/node_modules" "$node/installed"
    cp "$peers"/node/package{,-lock}.json "$node"
    (cd "$node" && quietly "$log" npm ci --ignore-scripts --no-audit --no-fund)
    cp "$node/package-lock.json" "$node/installed"
  fi
  cp "$peers/node/bench.mjs" "$node"
  ln -sfn "$var/clients/node-own/package/node_modules/handlersocket2" "$node/node_modules/handlersocket2"
}

case " $* " in *" --report "*) exec bench/run clients "$@" ;; esac

setup/packages.sh build bench
setup/server.sh "$name"
setup/peers.sh
setup/venv.sh bench/requirements.txt "$peers/python/requirements.txt"
[[ -x build/$name/bench/hs-bench-sql ]] || rm -f "build/$name/configured"
setup/build.sh "$name"
setup/build.sh "$name" bench_programs
for language in go java node; do
  say "building the programs that measure: $language"
  "build_$language"
done
exec bench/run clients "$@"
