#!/bin/bash
# Installs the Debian packages that a job needs and this machine lacks.
#
#   setup/packages.sh build|test|bench|lint...
#
# Looks for the thing itself, not for its package: a compiler that came another way will do.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

missing=()

# need PACKAGE COMMAND...: the package is missing if the command fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

need_command() { need "$1" command -v "$2"; }

for job in "$@"; do
  case $job in
    build)
      need_command g++ g++
      need_command cmake cmake
      need_command ninja-build ninja
      need_command binutils objdump
      need_command python3 python3
      need xz-utils command -v xz
      need libgtest-dev test -e /usr/include/gtest/gtest.h
      need libcli11-dev test -e /usr/include/CLI/CLI.hpp
      ;;
    test)
      need_command clang-14 clang++-14
      need libclang-rt-14-dev compgen -G '/usr/lib/llvm-14/lib/clang/*/lib/linux/libclang_rt.fuzzer-x86_64.a'
      need python3-venv python3 -c 'import ensurepip, venv'
      need_command valgrind valgrind
      # The clients that others wrote, and what runs them.
      if [[ -d tests/clients/node ]]; then
        need_command nodejs node
        need_command npm npm
      fi
      if [[ -d tests/clients/java ]]; then
        need_command default-jdk-headless javac
        need_command maven mvn
      fi
      ;;
    lint)
      need_command clang-format-14 clang-format-14
      need_command clang-tidy-14 clang-tidy-14
      need_command shellcheck shellcheck
      need python3-venv python3 -c 'import ensurepip, venv'
      ;;
    bench)
      need_command memcached memcached
      need_command redis-server redis-server
      need_command pkg-config pkg-config
      need libmariadb-dev test -e /usr/include/mariadb/mysql.h
      need python3-venv python3 -c 'import ensurepip, venv'
      ;;
    *) die "packages.sh: no job is called '$job'" ;;
  esac
done

((${#missing[@]} > 0)) || exit 0
((EUID == 0)) || die "missing: ${missing[*]}; as root, run: apt-get install ${missing[*]}"
command -v apt-get >/dev/null || die "missing: ${missing[*]}; only Debian's apt-get is known here"

say "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# One source of packages that does not answer need not matter: the installation will tell.
apt-get -q update >"$var/log/packages-update.log" 2>&1 </dev/null || true
quietly "$var/log/packages.log" apt-get -qy --no-install-recommends install "${missing[@]}"
