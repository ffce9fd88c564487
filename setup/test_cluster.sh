#!/bin/bash
# make test-cluster: the tests of several servers at a time, with more work than in make test.
#
#   setup/test_cluster.sh NAME [SECONDS]    SECONDS: how long nodes write the same rows (60)
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

name=$1
seconds=${2:-60}
setup/packages.sh build test
setup/server.sh "$name"
setup/more.sh "$name" || say "without Spider and mariadb-backup: their tests are skipped"
setup/build.sh "$name"
setup/venv.sh tests/requirements.txt
cd tests
SERVER=$name HS_CLUSTER_SECONDS=$seconds ../var/venv/bin/python -m pytest -q --tb=short -rA -o cache_dir="$var/pytest" \
  cluster </dev/null
