#!/bin/bash
# make stop: stops the demo server, if it runs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

if [[ ! -e $var/demo/server.pid ]]; then
  say "the demo server is not running"
  exit 0
fi
exec python3 setup/demo.py stop
