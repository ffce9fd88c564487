#!/bin/bash
# make bench: everything from nothing to the comparison's table; docs/performance.md says what it holds.
#
#   setup/bench.sh NAME [--quick] [--rounds N] [--only reads|writes|bystanders|defaults|ports|bulk]
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
setup/packages.sh build bench
setup/server.sh "$name"
setup/peers.sh
setup/venv.sh bench/requirements.txt
# A tree that was configured while libmariadb was missing has no SQL client, and would never look
# for it again.
[[ -x build/$name/bench/hs-bench-sql ]] || rm -f "build/$name/configured"
setup/build.sh "$name"
setup/build.sh "$name" bench_programs
exec bench/run "$@"
