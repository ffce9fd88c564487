#!/bin/bash
# make simulate: the front end in a simulator, one random seed after the other.
#
#   setup/simulate.sh [SECONDS] [SEED]     60 seconds of new seeds; with SEED only that one
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=${1:-60}
seed=${2:-}
setup/packages.sh build
configure build/simulator -DHS_TESTS=OFF
quietly "$var/log/simulator.log" cmake --build build/simulator --target hs-simulator --parallel "$(nproc)"
if [[ -n $seed ]]; then
  exec build/simulator/src/simulator/hs-simulator --seed "$seed" --seeds 1
fi
exec build/simulator/src/simulator/hs-simulator --seconds "$seconds"
