#!/bin/bash
# The Go client's own tests, which need no server: gofmt, vet, and all tests with the race detector.
#
#   setup/test_client_go.sh
#
# tests/clients/test_go_client.py tests it against a server.
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

setup/packages.sh go
go=$(setup/go.sh)
cd clients/go
unformatted=$("$go/gofmt" -l .)
[[ -z $unformatted ]] || die "gofmt would change $unformatted"
"$go/go" vet ./...
"$go/go" vet -tags e2e ./...
"$go/go" test -race -count=1 ./...
