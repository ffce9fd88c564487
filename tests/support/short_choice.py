"""The short choice of the tests: what `make test` runs on each server except the first.

It contains at least once everything that can differ between servers: types and keys, each kind of
request, SQL's rules, replication, recovery, DDL, and the start and end of the plugin. What only the
front end decides is not in it.
"""

from __future__ import annotations

# The beginnings of the names of the chosen tests.
CHOSEN = (
    "golden/test_golden.py",
    "vectors/test_dialogues.py::test_the_database_server_answers",
    "e2e/values/test_types.py",
    "e2e/values/test_mysql_types_and_keys.py",
    "e2e/tables/test_names_in_capitals.py",
    "e2e/tables/test_tables.py",
    "e2e/values/test_value_bounds.py",
    "e2e/values/test_values_",
    "e2e/requests/test_protocol_find.py",
    "e2e/tables/test_keys.py",
    "e2e/values/test_char_without_padding.py",
    "e2e/values/test_zero_dates.py",
    "e2e/requests/test_given_ids.py",
    "e2e/requests/test_protocol_modify.py",
    "e2e/requests/test_passes.py",
    "e2e/requests/test_units.py",
    "e2e/requests/test_groups",
    "e2e/requests/test_upserts",
    "e2e/requests/test_within.py",
    "e2e/requests/test_lists.py",
    "e2e/requests/test_warnings.py",
    "e2e/requests/test_random_warnings.py",
    "e2e/tables/test_newer_tables.py",
    "e2e/tables/test_engines.py",
    "e2e/bounds/test_no_memory.py",
    "e2e/rules/test_transaction_names.py",
    "e2e/locks/test_row_locks.py",
    "e2e/locks/test_blocked_inserts.py",
    "e2e/locks/test_exhausted_counters.py",
    "e2e/locks/test_stalled_clients.py",
    "e2e/locks/test_giving_way.py",
    "e2e/bounds/test_given_back.py",
    "e2e/tables/test_without_transactions.py",
    "e2e/requests/test_pipelines.py",
    "e2e/redis/test_redis_hashes.py",
    "e2e/redis/test_redis_keys.py",
    "e2e/redis/test_redis_writes.py",
    "e2e/redis/test_redis_transactions.py",
    "e2e/redis/test_redis_accounts.py",
    "e2e/redis/test_redis_differences.py::test_the_plugin",
    "e2e/redis/test_redis_info.py",
    "e2e/redis/test_redis_life.py",
    "e2e/redis/test_redis_beside.py",
    "e2e/redis/test_redis_shown.py",
    "e2e/redis/test_redis_strings.py",
    "e2e/redis/test_redis_scan.py",
    "e2e/redis/test_redis_find",
    "e2e/requests/test_hello.py",
    "e2e/operation/test_prefetch.py",
    "clients/test_redis_clients.py::TestRedisCli",
    "client_soak/test_client_soak.py::test_every_client",
    "e2e/memcached/test_memcached.py",
    "e2e/memcached/test_memcached_beside.py",
    "e2e/memcached/test_memcached_accounts.py",
    "e2e/operation/test_counters.py",
    "e2e/operation/test_connections_table.py",
    "e2e/operation/test_top.py::TestNumbers",
    "e2e/operation/test_top.py::TestWhoAsks",
    "e2e/operation/test_latency.py",
    "e2e/operation/test_enabled.py",
    "e2e/operation/test_open_indexes.py",
    "e2e/operation/test_server_states.py",
    "e2e/operation/test_server_statistics.py",
    "e2e/requests/test_as_the_original.py",
    "e2e/bounds/test_descriptors.py",
    "e2e/operation/test_first_start.py",
    "e2e/operation/test_said_of_settings.py",
    "e2e/operation/test_wrong_port.py::test_tls_without_a_certificate",
    "e2e/operation/test_live_settings.py",
    "e2e/accounts/test_tls.py",
    "e2e/accounts/test_privileges.py",
    "e2e/accounts/test_who_the_user_is.py",
    "e2e/accounts/test_accounts_of_ports.py",
    "e2e/accounts/test_audit_of_mysql.py",
    "e2e/accounts/test_log_in.py",
    "e2e/accounts/test_log_in_limits.py",
    "e2e/accounts/test_log_in_records.py",
    "e2e/accounts/test_security_examples.py",
    "e2e/operation/test_first_contact.py::TestDemo",
    "e2e/operation/test_first_contact.py::test_the_dialogue",
    "e2e/bounds/test_waiting_bytes.py",
    "e2e/rules/test_write_obedience.py::test_read_only",
    "e2e/rules/test_write_rules.py::test_random_work[STRICT_TRANS_TABLES-FULL]",
    "e2e/rules/test_random_differences.py",
    "e2e/rules/test_replication.py::test_a_replica_ends_equal[FULL]",
    "e2e/values/test_mariadb_11_8.py",
    "e2e/operation/test_crash_recovery.py",
    *(
        f"e2e/locks/test_ddl_under_load.py::test_a_statement_goes_through_and_no_request_fails[{statement}]"
        for statement in ("add_column_copying", "rebuild", "flush_tables", "lock_tables_write")
    ),
    "e2e/locks/test_ddl_under_load.py::test_a_lock_for_a_backup",
    "e2e/operation/test_life_cycle.py",
    "cluster/test_galera.py::test_each_kind_of_write",
    "cluster/test_galera.py::test_conflicts",
    "cluster/test_group_replication.py",
    "cluster/test_replicas.py::test_a_failover",
    "cluster/test_spider.py",
)


def choose(tests: list[str]) -> set[str]:
    """The chosen tests among all tests."""
    for beginning in CHOSEN:
        if not any(test.startswith(beginning) for test in tests):
            raise ValueError(f"no test's name begins with {beginning}")
    return {test for test in tests if test.startswith(CHOSEN)}
