#!/bin/bash
# make soak: random work against one server, with faults, DDL, KILL and kill -9 at the same time.
# Every reply is checked against a model. tests/soak/ describes it.
#
#   setup/soak.sh NAME [SECONDS] [SEED] [ARGUMENTS...]     ARGUMENTS: see python -m soak --help
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
seconds=${2:-600}
seed=${3:-}
server_release "$name" >/dev/null
setup/packages.sh build test
setup/server.sh "$name"
setup/more.sh "$name" || say "without Spider"
setup/venv.sh tests/requirements.txt
setup/build.sh "$name"
export SERVER=$name PYTHONPATH=tests:setup:clients/python/src
exec var/venv/bin/python -m soak --seconds "$seconds" ${seed:+--seed "$seed"} "${@:4}" </dev/null
