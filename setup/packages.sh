#!/bin/bash
# Installs the Debian packages that a job needs and this machine lacks.
#
#   setup/packages.sh build|top|test|languages|go|java|node|bench|lint|deb|draw...
#
# Checks for the program or library itself, not for its package: a compiler from elsewhere is fine.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# The server's packages and its private headers are those of one architecture.
[[ $(uname -m) == x86_64 ]] || die "this machine is $(uname -m): HandlerSocket 2 is built for x86-64 only"

# need PACKAGE COMMAND...: the package is missing if the command fails.
need() {
  local package=$1
  shift
  "$@" >/dev/null 2>&1 || missing+=("$package")
}

# builds_fuzzers COMPILER: whether it is a clang with its fuzzer's library.
builds_fuzzers() {
  [[ -n $1 ]] && "$1" -x c++ -fsanitize=fuzzer,address -o /dev/null - \
    <<<'extern "C" int LLVMFuzzerTestOneInput(const unsigned char *, unsigned long) { return 0; }'
}

need_command() { need "$1" command -v "$2"; }

# cargo_is_new: whether Rust is as new as the client needs that the tests build with it.
cargo_is_new() { cargo --version | awk -F'[ .]' '{ exit !($2 > 1 || $3 >= 85) }'; }

# The package with a Rust that is new: Debian 12 has it for building web browsers, beside an old one.
cargo_package() {
  # shellcheck source=/dev/null
  (. /etc/os-release && [[ ${VERSION_CODENAME:-} == bookworm ]] && echo cargo-web) || echo cargo
}

# find_missing JOB...: sets `missing`, the packages that the jobs need and this machine lacks.
find_missing() {
  local job clang
  missing=()
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
        need libssl-dev test -e /usr/include/openssl/ssl.h
        need libcli11-dev test -e /usr/include/CLI/CLI.hpp
        need nlohmann-json3-dev test -e /usr/include/nlohmann/json.hpp
        ;;
      test)
        # The release's own clang; if one is there already, the libraries of its version.
        clang=$(clang_compiler || true)
        need clang test -n "$clang"
        need "libclang-rt-${clang:+$("$clang" -dumpversion | cut -d. -f1)-}dev" builds_fuzzers "$clang"
        need python3-venv python3 -c 'import ensurepip, venv'
        need_command ccache ccache
        need_command valgrind valgrind
        need_command openssl openssl
        need_command iproute2 ss  # the scripts with which a Galera node gets its data
        # The clients that others wrote, and what they need to run.
        if [[ -d tests/clients/node ]]; then
          need_command nodejs node
          need_command npm npm
        fi
        if [[ -d tests/clients/java ]]; then
          need_command default-jdk-headless javac
          need_command maven mvn
        fi
        ;;
      languages)
        # More clients that others wrote; PHP's and Ruby's are the release's own.
        need_command php-cli php
        need php-redis php -r 'exit(extension_loaded("redis") ? 0 : 1);'
        need php-memcached php -r 'exit(extension_loaded("memcached") ? 0 : 1);'
        # Its log-ins.
        need libsasl2-modules test -e /usr/lib/x86_64-linux-gnu/sasl2/libplain.so
        need_command ruby ruby
        need ruby-redis ruby -e 'require "redis"'
        need ruby-dalli ruby -e 'require "dalli"'
        need ruby-activesupport ruby -e 'require "active_support"'
        need "$(cargo_package)" cargo_is_new
        need_command pkg-config pkg-config
        ;;
      go)
        # Any Go will do: setup/go.sh has it download one that is new enough.
        need_command golang-go go
        ;;
      java)
        need_command default-jdk-headless javac
        need_command maven mvn
        ;;
      node)
        need_command nodejs node
        need_command npm npm
        ;;
      top)
        need python3 /usr/bin/python3 -c 'import curses'
        need python3-pymysql /usr/bin/python3 -c 'import pymysql'
        ;;
      lint)
        need_command clang-format-14 clang-format-14
        need_command clang-tidy-14 clang-tidy-14
        need_command shellcheck shellcheck
        need python3-venv python3 -c 'import ensurepip, venv'
        ;;
      deb)
        need_command dpkg-dev dpkg-shlibdeps
        need_command debootstrap debootstrap
        ;;
      draw)
        need_command chromium chromium
        need fonts-inter test -e /usr/share/fonts/opentype/inter/Inter-Regular.otf
        need_command nodejs node
        need_command npm npm
        ;;
      bench)
        need_command pkg-config pkg-config
        need libmariadb-dev test -e /usr/include/mariadb/mysql.h
        need python3-venv python3 -c 'import ensurepip, venv'
        ;;
      *) die "packages.sh: no job is called '$job'" ;;
    esac
  done
}

find_missing "$@"
((${#missing[@]} > 0)) || exit 0
((EUID == 0)) || die "missing: ${missing[*]}; as root, run: apt-get install ${missing[*]}"
command -v apt-get >/dev/null || die "missing: ${missing[*]}; only Debian's apt-get is known here"

export DEBIAN_FRONTEND=noninteractive
# If one source of packages does not answer, that may not matter: the installation will show it.
update_log=$var/log/packages-update.log
apt_update "$update_log" || true
log=$var/log/packages.log
install=(apt-get -qy --no-install-recommends install "${missing[@]}")
if no_network "$update_log"; then
  # apt may have all of them in its cache.
  "${install[@]}" -o Acquire::Retries=0 >"$log" 2>&1 </dev/null ||
    die "no network: none of this machine's package mirrors answers, and these packages are missing: ${missing[*]};" \
      "see ${update_log#"$repo"/}"
else
  size=$(LC_ALL=C apt-get -q --assume-no --no-install-recommends install "${missing[@]}" 2>/dev/null |
    sed -n 's/^Need to get \(.*\) of archives.*/\1/p') || true
  say "installing ${missing[*]}, a download of ${size:-unknown size} (progress: ${log#"$repo"/})"
  quietly "$log" "${install[@]}"
fi
find_missing "$@"
((${#missing[@]} == 0)) || die "still missing although apt-get has ended well: ${missing[*]}; see ${log#"$repo"/}"
