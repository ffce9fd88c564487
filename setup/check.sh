#!/bin/bash
# make check: what can be known in three minutes, for who has just changed a line. It builds the plugin and the unit tests
# for one server, runs them, and the tests of the layers, the vectors and the recorded dialogues on that server. It is a
# part of setup/test.sh, and takes nobody's place for it.
#
#   setup/check.sh NAME
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
server_release "$name" >/dev/null
setup/packages.sh build test
setup/server.sh "$name"
setup/venv.sh tests/requirements.txt

unit_tests() {
  setup/build.sh "$name" unit_tests
  ctest --test-dir "build/$name" --output-on-failure --no-tests=error --parallel "$(nproc)" --timeout 120
}

on_the_server() {
  setup/build.sh "$name"
  setup/build.sh "$name" hs-memory-server
  cd tests
  SERVER=$name ../var/venv/bin/python -m pytest -q --tb=short -o cache_dir="$var/pytest" \
    test_layers.py vectors golden e2e/requests/test_pipelines.py </dev/null
}

check "unit tests" unit_tests
check "layers, vectors and dialogues on $name" on_the_server
summarise
