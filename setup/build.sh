#!/bin/bash
# Builds the plugin for a server that setup/server.sh got, in build/NAME.
#
#   setup/build.sh NAME [TARGET]    TARGET: handlersocket2 (the default), or all
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
target=${2:-handlersocket2}
say "building $target for $name"
configure "build/$name" -DHS_SERVER="$var/servers/$name"
if ! cmake --build "build/$name" --target "$target" --parallel "$(nproc)"; then
  (($(df --output=avail --block-size=M "build/$name" | tail -n 1 | tr -dc '0-9') > 20)) || die "the disk of build/$name is full"
  die "the build failed: its messages are above"
fi
