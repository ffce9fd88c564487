#!/bin/bash
# make bench: runs bench/run.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ! -x bench/run ]]; then
  say "there is no benchmark yet: it comes with the next issue"
  exit 0
fi
setup/packages.sh build
setup/server.sh "$1"
setup/build.sh "$1" all
exec bench/run "$1"
