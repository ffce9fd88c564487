#!/bin/bash
# make test: every test there is, from nothing; a summary at the end.
#
#   setup/test.sh           unit tests, sanitizers, fuzzers; all end-to-end tests on the first of `servers`
#                           in common.sh and a short choice of them on each of the others
#   setup/test.sh NAME      all end-to-end tests on that server
#
# HS_FUZZ_SECONDS is how long each fuzzer runs.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

fuzz_seconds=${HS_FUZZ_SECONDS:-15}
jobs=$(nproc)

run_ctest() {
  ctest --test-dir "$1" --output-on-failure --no-tests=error --parallel "$jobs" --timeout 120
}

unit_tests() {
  setup/build.sh "$1" all
  run_ctest "build/$1"
}

sanitized_tests() {
  configure build/asan -DHS_SANITIZE=address,undefined -DCMAKE_BUILD_TYPE=Debug
  cmake --build build/asan --parallel "$jobs"
  ASAN_OPTIONS=detect_stack_use_after_return=1 UBSAN_OPTIONS=print_stacktrace=1 run_ctest build/asan
}

# Each fuzzer for a while, over its corpus; what it finds new stays in build/.
fuzzers() {
  configure build/fuzz -DCMAKE_CXX_COMPILER=clang++-14 -DHS_FUZZ=ON -DHS_TESTS=OFF -DHS_SANITIZE=address
  cmake --build build/fuzz --parallel "$jobs"
  local fuzzer title log found=0
  while read -r fuzzer; do
    found=$((found + 1))
    title=$(basename "$fuzzer")
    log=$var/log/$title.log
    local corpora=("$repo/build/fuzz/found/$title" "$repo/tests/fuzz/$title")
    mkdir -p "${corpora[0]}"
    [[ -d ${corpora[1]} ]] || unset 'corpora[1]'
    # The first folder takes what is new; the others are only read.
    if ! "$fuzzer" -max_total_time="$fuzz_seconds" -timeout=10 -rss_limit_mb=2048 \
      -artifact_prefix="$repo/build/fuzz/$title-" "${corpora[@]}" >"$log" 2>&1 </dev/null; then
      tail -n 60 "$log" >&2
      die "$title found a failure; its input is named above"
    fi
    echo "$title: $(grep '^Done' "$log")"
  done < <(find build/fuzz -name '*_fuzz' -type f -executable | sort)
  ((found > 0)) || die "no fuzzer was built"
}

# end_to_end_tests NAME PYTEST-ARGUMENTS...
end_to_end_tests() {
  local name=$1
  shift
  setup/server.sh "$name"
  setup/build.sh "$name"
  cd tests
  SERVER=$name ../var/venv/bin/python -m pytest -q --tb=short -o cache_dir="$var/pytest" "$@" </dev/null
}

mapfile -t names < <(server_names)
name=${1:-${names[0]}}
server_release "$name" >/dev/null
setup/packages.sh build test
setup/server.sh "$name"
setup/venv.sh tests/requirements.txt

if (($# == 0)); then
  check "unit tests" unit_tests "$name"
  check "unit tests with the address and undefined-behaviour sanitizers" sanitized_tests
  check "fuzzers, $fuzz_seconds s each" fuzzers
fi
check "end-to-end tests on $name" end_to_end_tests "$name"
if (($# == 0)); then
  for other in "${names[@]:1}"; do
    # The whole suite meets new random work each time; the short choice says the same of the same code.
    HS_SEED=${HS_SEED:-1} check "a short choice of them on $other" end_to_end_tests "$other" --short
  done
fi

summarise
