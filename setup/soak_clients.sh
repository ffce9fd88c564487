#!/bin/bash
# make soak CLIENTS=...: our clients against one server with faults, kill -9 among them. tests/client_soak/README.md
# describes it.
#
#   setup/soak_clients.sh NAME CLIENTS [SECONDS] [SEED] [ARGUMENTS...]     CLIENTS: go,java,node,python or some of them;
#                                                                          ARGUMENTS: see python -m client_soak --help
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
clients=$2
seconds=${3:-600}
seed=${4:-}
server_release "$name" >/dev/null
setup/packages.sh build test go
setup/go.sh >/dev/null
setup/server.sh "$name"
setup/venv.sh tests/requirements.txt
setup/build.sh "$name"
export SERVER=$name PYTHONPATH=tests:setup:clients/python/src
exec var/venv/bin/python -m client_soak --clients "$clients" --seconds "$seconds" ${seed:+--seed "$seed"} "${@:5}" </dev/null
