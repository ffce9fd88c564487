"""The short choice of the tests: what `make test` runs on each server except the first.

It contains at least once everything that can differ between servers: types and keys, each kind of
request, SQL's rules, replication, recovery, DDL, and the start and end of the plugin. What only the
front end decides is not in it. Where a test has many cases, or starts a server for each of many
settings, it has some of them: `setup/test.sh NAME` runs them all.
"""

from __future__ import annotations


def _of(file: str, *tests: str) -> tuple[str, ...]:
    """These tests of a file of tests/e2e."""
    return tuple(f"e2e/{file}.py::{test}" for test in tests)


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
    "e2e/requests/test_groups",
    "e2e/requests/test_upserts.py",
    "e2e/requests/test_upserts_beside.py",
    *_of("requests/test_upserts_over_tables", "test_random_tables[lock_mode_2]"),
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
    *_of(
        "locks/test_stalled_clients",
        *(
            f"TestAlterTable::test_goes_through_and_the_rows_come_once_and_in_order[{case}]"
            for case in (
                "primary_key",
                "many_equal_keys",
                "in",
                "descending_part",
                "null_backwards",
                "null_of_a_descending_part",
            )
        ),
        "test_a_unique_index_is_enough_for_any_engine[PARTITION",
        "TestMeanwhile::test_rows_come_and_go[many_equal_keys]",
        "TestMeanwhile::test_a_lock_is_waited_for",
        "TestMeanwhile::test_what_the_find_needs_is_gone[DROP TABLE t]",
        "TestMeanwhile::test_what_the_find_needs_is_gone[ALTER TABLE t MODIFY k BIGINT]",
        "TestWhatCannotBeParked",
        "TestOwnServer::test_a_wait_is_bounded_in_all",
        "TestOwnServer::test_shutdown[primary_key]",
    ),
    "e2e/locks/test_giving_way.py",
    "e2e/bounds/test_given_back.py",
    "e2e/tables/test_without_transactions.py",
    "e2e/requests/test_pipelines.py",
    "e2e/redis/test_redis_hashes.py",
    "e2e/redis/test_redis_keys.py",
    "e2e/redis/test_redis_writes.py",
    "e2e/redis/test_redis_engines.py",
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
    *_of(
        "operation/test_enabled",
        "test_off_closes_everything_and_on_opens_it",
        "test_a_request_under_way_is_answered",
        "test_persisted",
        "test_while_everything_else_happens",
        "test_a_shutdown_comes_meanwhile",
        "test_the_account",
    ),
    "e2e/operation/test_open_indexes.py",
    "e2e/operation/test_server_states.py",
    "e2e/operation/test_server_statistics.py",
    "e2e/requests/test_as_the_original.py",
    "e2e/bounds/test_descriptors.py",
    *_of(
        "operation/test_first_start",
        "test_it_says_where_it_listens",
        "test_a_server_starts_though_a_port_is_taken[port]",
        "test_an_install_fails_if_a_port_is_taken",
        "test_what_cannot_be_meant_is_refused[text]",
        "test_the_servers_own_port_and_socket_are_refused",
        "test_numbers_are_kept_within_their_bounds",
        "test_a_number_that_is_none_is_refused_by_install",
        "TestSettingsWithoutEffect::test_the_install_tells_its_client",
        "test_a_start_that_the_server_gives_up_is_no_error_of_the_plugin[an unknown option]",
    ),
    *_of(
        "operation/test_said_of_settings",
        "TestAnAccountThatIsNotThere::test_is_named_by_set_global",
        "TestAnAccountThatIsNotThere::test_is_named_by_an_install",
        "TestNobodyMayDoAnything::test_an_install_tells_its_client",
        "test_a_message_has_the_name_of_its_variable",
        "test_a_number_that_is_lowered_is_an_sql_warning",
        "test_negative_numbers_of_a_file_are_corrected",
        "TestAdaptiveHashIndex::test_a_note_says_that_it_is_off",
    ),
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
    *_of(
        "operation/test_first_contact",
        "TestDemo::test_with_secrets_and_ports_of_its_own",
        "TestDemo::test_a_demo_that_runs_goes_on_if_the_next_cannot",
        "TestDemo::test_settings_that_cannot_work_stop_no_demo",
        "TestDemo::test_an_interruption_while_rows_are_loaded",
        "test_the_dialogue",
    ),
    *_of("bounds/test_waiting_bytes", "test_replies_that_nobody_reads[True]"),
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
    *_of(
        "operation/test_life_cycle",
        "TestUnload::test_under_load_again_and_again",
        "TestUnload::test_while_a_writer_waits_for_a_row",
        "TestUnload::test_while_a_large_find_is_streamed_to_a_client_that_does_not_read",
        "TestUnload::test_the_last_kill_is_not_forgotten",
        "TestUnload::test_leaves_nothing_behind",
        "TestKill::test_idle_workers[KILL QUERY]",
        "TestKill::test_during_a_write_that_waits[KILL]",
        "TestKill::test_while_triggers_are_read",
        "TestKill::test_during_a_long_find",
        "TestKill::test_again_and_again_under_load",
        "TestShutdown::test_with_a_thousand_clients[SIGTERM]",
        "TestShutdown::test_under_load",
        "TestShutdown::test_while_a_writer_waits_for_a_row",
    ),
    "cluster/test_galera.py::test_each_kind_of_write",
    "cluster/test_galera.py::test_conflicts",
    "cluster/test_group_replication.py",
    "cluster/test_replicas.py::test_a_failover",
    "cluster/test_spider.py",
)

# Parts of the names of those that are left out all the same.
LEFT_OUT = (
    # The other version of Redis's protocol differs in how a reply is written.
    "[RESP2",
    # The servers' own code is reached by the others of these files.
    "test_row_locks.py::test_the_time_out_holds_for_each[delete]",
    "test_row_locks.py::test_the_time_out_holds_for_each[by another index]",
    "test_row_locks.py::test_the_time_out_holds_for_each[trigger]",
    "test_row_locks.py::test_the_time_out_holds_for_each[number]",
    "test_upserts.py::test_random_upserts[bound]",
    "test_within.py::test_long_modifications[MyISAM]",
    "test_tls.py::test_slow_handshakes",
    "test_tls.py::test_mutated_handshakes",
    "test_redis_shown.py::test_who_does_not_log_in_is_closed",
    "test_redis_shown.py::test_who_does_nothing_is_closed",
)


def is_chosen(test: str) -> bool:
    return test.startswith(CHOSEN) and not any(part in test for part in LEFT_OUT)


def choose(tests: list[str]) -> set[str]:
    """The chosen tests among all tests. A name in this file that no test has is an error."""
    for beginning in CHOSEN:
        if not any(test.startswith(beginning) for test in tests):
            raise ValueError(f"no test's name begins with {beginning}")
    for part in LEFT_OUT:
        if not any(part in test and test.startswith(CHOSEN) for test in tests):
            raise ValueError(f"no chosen test's name contains {part}")
    return {test for test in tests if is_chosen(test)}
