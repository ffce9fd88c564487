#!/bin/bash
# make test: runs all tests, from nothing, and prints a summary at the end.
#
#   setup/test.sh           unit tests with sanitizers, fuzzers, the clients' own tests; all end-to-end tests
#                           on the first of `servers` in common.sh and a short choice of them on each of the
#                           others; a soak of each, of one with a plugin that the address sanitizer watches
#   setup/test.sh NAME      all end-to-end tests on that server
#
# HS_FUZZ_SECONDS is how long each fuzzer runs, HS_SOAK_SECONDS how long the soak on each server,
# HS_DIFF_CASES how many random tables are compared with SQL on each (tests/e2e/rules/test_random_differences.py
# has the number), HS_SIMULATIONS how many runs the simulator makes. HS_SEED is the seed of the random tests.
# By default it is computed from the sources: the same sources make the same choices everywhere, and
# every change gets others. What the tables and the simulator find does not depend on how fast the
# machine is, because they have numbers and no time.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

fuzz_seconds=${HS_FUZZ_SECONDS:-15}
soak_seconds=${HS_SOAK_SECONDS:-120}
simulations=${HS_SIMULATIONS:-48000}
jobs=$(nproc)
# The folders that know no server are compiled once for the plugins of all servers.
export HS_LAUNCHER="env;CCACHE_DIR=$var/ccache;CCACHE_NOHASHDIR=1;ccache"

# seed_of_sources: a checksum of the plugin's sources.
seed_of_sources() {
  find src -name "*.cc" -o -name "*.h" | LC_ALL=C sort | xargs cat | cksum | cut -d" " -f1
}
export HS_SEED=${HS_SEED:-$(seed_of_sources)}

# run_ctest TREE CTEST-ARGUMENTS...
run_ctest() {
  local tree=$1
  shift
  ctest --test-dir "$tree" --output-on-failure --no-tests=error --parallel "$jobs" "$@"
}

# sanitized_tests NAME: the unit tests, and the plugin for that server; without a name only the unit
# tests. They are run nowhere else in `make test`: as the plugin is compiled, `make check` runs them.
sanitized_tests() {
  local tree=build/asan${1:+-$1} targets=(unit_tests) server=()
  if [[ -n $1 ]]; then
    setup/server.sh "$1"
    targets+=(handlersocket2)
    server=(-DHS_SERVER="$var/servers/$1")
  fi
  # A little optimised, which halves the time of the tests.
  configure "$tree" "${server[@]}" -DHS_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1"
  cmake --build "$tree" --parallel "$jobs" --target "${targets[@]}"
  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 run_ctest "$tree" --timeout 600
}

# simulate NAME: the cores share the seeds, which follow from HS_SEED. They are the same for any number of cores. xargs
# starts them, because what bash starts with `&` does not end at Ctrl-C.
simulate() {
  setup/build.sh "$1" hs-simulator
  local i begin end
  for ((i = 0; i < jobs; i++)); do
    begin=$((simulations * i / jobs)) end=$((simulations * (i + 1) / jobs))
    echo "--seed $((HS_SEED + begin)) --seeds $((end - begin))"
  done | xargs --max-procs "$jobs" --max-lines=1 "build/$1/src/simulator/hs-simulator"
}

# Only net/ and what stands on it use more than one thread. The store's test also has threads.
thread_tests() {
  configure build/tsan -DHS_SANITIZE=thread -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1"
  cmake --build build/tsan --parallel "$jobs" --target net_test passes_test session_test store_test
  run_ctest build/tsan --tests-regex '^(net|passes|session|store)$' --timeout 600
}

# with_sanitized_plugin NAME COMMAND...: servers that the command starts load the plugin of
# sanitized_tests, and before it the sanitizers' libraries.
with_sanitized_plugin() {
  local library preload=
  for library in libasan.so libubsan.so; do
    preload+=:$(readlink -f "$(g++ -print-file-name="$library")")
  done
  HS_PLUGIN_DIR=$repo/build/asan-$1/src/mysqld HS_PRELOAD=${preload:1} "${@:2}"
}

# As many fuzzers at a time as there are cores, each over its corpus.
fuzzers() {
  configure build/fuzz -DCMAKE_CXX_COMPILER="$(clang_compiler)" -DHS_FUZZ=ON -DHS_TESTS=OFF -DHS_SANITIZE=address \
    -DCMAKE_BUILD_TYPE=Debug -DCMAKE_CXX_FLAGS_DEBUG="-O1 -g1"
  cmake --build build/fuzz --parallel "$jobs" --target fuzzers
  local programs
  mapfile -t programs < <(find build/fuzz -name '*_fuzz' -type f -executable | sort)
  ((${#programs[@]} > 0)) || die "no fuzzer was built"
  printf '%s\n' "${programs[@]}" | xargs --max-procs "$jobs" --max-lines=1 setup/fuzzer.sh "$fuzz_seconds"
}

# end_to_end_tests NAME PYTEST-ARGUMENTS... Some processes, each with servers of its own, share the test files. There is one
# more than there are cores, because a process often waits. The memory server, hs-bench and the monitors are for tests that
# --short leaves out. The peers are those with which the answers to Redis's commands are compared.
end_to_end_tests() {
  local name=$1
  shift
  setup/server.sh "$name"
  setup/build.sh "$name"
  setup/peers.sh
  if [[ ${1:-} != --short ]]; then
    setup/build.sh "$name" hs-memory-server
    setup/build.sh "$name" hs-bench
    setup/monitors.sh
  fi
  cd tests
  SERVER=$name ../var/venv/bin/python -m pytest -q --tb=short -o cache_dir="$var/pytest" \
    --numprocesses $((jobs + 1)) --dist loadfile --no-loadscope-reorder "$@" </dev/null
}

# soak NAME: if the machine's disk does nothing for a minute, that does not count as a hang of the
# server.
soak() { setup/soak.sh "$1" "$soak_seconds" "" --patience 180; }

# The soak of one server as a check, with the sanitized plugin if there is one. It runs alone: beside something else it
# would do less in its time.
check_soak() {
  if [[ $1 == "$sanitized" ]]; then
    check "the soak on $1 with the address sanitizer, $soak_seconds s" with_sanitized_plugin "$1" soak "$1"
  else
    check "the soak on $1, $soak_seconds s" soak "$1"
  fi
}

# What only the tests of clusters need. Without it they say what they leave out.
check_more() {
  [[ $1 != mariadb-* ]] || check "Spider and mariadb-backup for $1" setup/more.sh "$1"
}

mapfile -t names < <(server_names)
name=${1:-${names[0]}}
server_release "$name" >/dev/null
# This server's plugin is also built with the address sanitizer.
sanitized=
(($# > 0)) || sanitized=$(server_of_this_release)
setup/packages.sh build test languages go
setup/go.sh
setup/server.sh "$name"
setup/venv.sh tests/requirements.txt

if (($# == 0)); then
  # A download, and then one core for the unpacking: the compiler has the other meanwhile.
  for other in "${names[@]:1}"; do
    check_beside "getting $other" setup/server.sh "$other"
  done
  check "unit tests with the address and undefined-behaviour sanitizers" sanitized_tests "$sanitized"
  check "the simulator, $simulations runs" simulate "$name"
  check "unit tests of what has threads with the thread sanitizer" thread_tests
  join_checks
  # The clients' tests wait for downloads and time-outs.
  check_beside "the clients' own tests" setup/test_clients.sh
  check "fuzzers, $fuzz_seconds s each" fuzzers
  join_checks
fi
check_more "$name"
if [[ $name == "$sanitized" ]]; then
  # These tests build the plugin again, with one more port. In the sanitized tree that takes seconds. In the other one the
  # whole plugin would be optimised again.
  mapfile -t line_port < <(cd tests && grep --recursive --files-with-matches --include='test_*.py' support_line_port e2e)
  ((${#line_port[@]} > 0)) || die "no test has the port of the line protocol"
  check "end-to-end tests on $name" end_to_end_tests "$name" "${line_port[@]/#/--ignore=}"
  check "end-to-end tests of the line protocol on $name with the address sanitizer" \
    with_sanitized_plugin "$name" end_to_end_tests "$name" "${line_port[@]}"
else
  check "end-to-end tests on $name" end_to_end_tests "$name"
fi
check_soak "$name"
if (($# == 0)); then
  for other in "${names[@]:1}"; do
    check_more "$other"
    check "a short choice of them on $other" end_to_end_tests "$other" --short
    check_soak "$other"
  done
fi

summarise
