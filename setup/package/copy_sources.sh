#!/bin/bash
# Copies the sources that a package carries: all that handlersocket2-build needs, and nothing of tests/.
#
#   setup/package/copy_sources.sh FOLDER
source "$(dirname "${BASH_SOURCE[0]}")/../common.sh"

sources=$1
mkdir -p "$sources"/{bench,setup/package}
cp -r CMakeLists.txt cmake src LICENSE "$sources/"
cp -r bench/CMakeLists.txt bench/load bench/peers "$sources/bench/"
cp setup/{common,unpack,server_mariadb,server_mysql}.sh "$sources/setup/"
cp setup/package/build.sh "$sources/setup/package/"
