#!/bin/bash
# Runs one fuzzer over its corpus in tests/fuzz. New inputs that it finds stay in build/fuzz/found.
#
#   setup/fuzzer.sh SECONDS PROGRAM
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

seconds=$1
program=$2
title=$(basename "$program")
log=$var/log/$title.log
# New inputs go into the first folder. The others are only read.
corpora=("$repo/build/fuzz/found/$title" "$repo/tests/fuzz/$title")
mkdir -p "${corpora[0]}"
[[ -d ${corpora[1]} ]] || unset 'corpora[1]'
if ! "$program" -max_total_time="$seconds" -timeout=60 -rss_limit_mb=2048 \
  -artifact_prefix="$repo/build/fuzz/$title-" "${corpora[@]}" >"$log" 2>&1 </dev/null; then
  tail -n 60 "$log" >&2
  die "$title found a failure; its input is named above"
fi
echo "$title: $(grep '^Done' "$log")"
