#!/bin/bash
# The clients' own tests, which need no database server. Those with one are in tests/clients, and
# those of Python run with them.
#
#   setup/test_clients.sh [NAME...]      those of setup/test_client_NAME.sh; without names, all
source "$(dirname "${BASH_SOURCE[0]}")/common.sh"

scripts=(setup/test_client_*.sh)
if (($# > 0)); then
  scripts=("${@/#/setup/test_client_}")
  scripts=("${scripts[@]/%/.sh}")
fi
failed=()
for script in "${scripts[@]}"; do
  say "$script"
  "$script" || failed+=("$script")
done
((${#failed[@]} == 0)) || die "failed: ${failed[*]}"
