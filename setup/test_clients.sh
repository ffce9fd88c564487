#!/bin/bash
# The clients' own tests, which need no database server. Those with one are in tests/clients.
#
#   setup/test_clients.sh [go...]      the named ones; without names, all
#
# A client has a function here that is called test_ and its folder below clients/, and takes less than
# a minute. Those of Python run with the end-to-end tests.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

# gofmt, vet, and all tests with the race detector; the fuzz tests with the inputs that are kept.
test_go() {
  local go unformatted
  go=$(setup/go.sh)
  cd clients/go
  unformatted=$("$go/gofmt" -l .)
  [[ -z $unformatted ]] || die "gofmt would change $unformatted"
  "$go/go" vet ./...
  "$go/go" vet -tags e2e ./...
  "$go/go" test -race -count=1 ./...
}

if (($# == 0)); then
  mapfile -t names < <(declare -F | sed -n 's/^declare -f test_//p')
  set -- "${names[@]}"
fi
for name in "$@"; do
  declare -F "test_$name" >/dev/null || die "the client $name has no tests here"
  say "the tests of the client for $name"
  (set -e && "test_$name")
done
