"""The short choice of the tests: what `make test` runs on each server but the first.

What can differ from one server to another is in it at least once: types and keys, each kind
of request, SQL's rules, replication, recovery, DDL, life and end. What the front end alone
decides is not.
"""

from __future__ import annotations

# What a chosen test's name begins with.
CHOSEN = (
    "golden/",
    "e2e/test_types.py",
    "e2e/test_tables.py",
    "e2e/test_protocol_find.py",
    "e2e/test_protocol_modify.py",
    "e2e/test_passes.py",
    "e2e/test_counters.py",
    "e2e/test_write_obedience.py::test_read_only",
    "e2e/test_write_rules.py::test_random_work[STRICT_TRANS_TABLES-FULL]",
    "e2e/test_replication.py::test_a_replica_ends_equal[FULL]",
    "e2e/test_mariadb_11_8.py",
    "e2e/test_crash_recovery.py",
    *(
        f"e2e/test_ddl_under_load.py::test_a_statement_goes_through_and_no_request_fails[{statement}]"
        for statement in ("add_column_copying", "rebuild", "flush_tables", "lock_tables_write")
    ),
    "e2e/test_life_cycle.py",
)


def choose(tests: list[str]) -> set[str]:
    """Those of all tests that are chosen."""
    for beginning in CHOSEN:
        if not any(test.startswith(beginning) for test in tests):
            raise ValueError(f"no test's name begins with {beginning}")
    return {test for test in tests if test.startswith(CHOSEN)}
