// Open tables and their indexes, for plans, scans and transactions. All functions are inline.
//
// Called on the thread that owns the TABLE. Only api.h includes it.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace hs::mysqld::server {

inline std::string_view index_name(const KEY& index);
// Whether rows can be found in the index by value.
inline bool is_searchable(const TABLE& table, unsigned index);
// Whether the index contains the rows themselves.
inline bool is_clustering(const TABLE& table, unsigned index);

// How the table's indexes order the values of a column, `column` or of its beginning.
inline BlankOrder blank_order(const TABLE& table, const Field& column);

// So many key parts identify each entry of the index and can be searched by. They may include parts
// of the primary key that the server adds to the index. 0: the server knows no such parts.
inline unsigned identifying_parts(TABLE& table, unsigned index);

// Adds a column to the read set, and the columns from which it is computed.
inline void mark_to_read(TABLE& table, Field& column);

// Adds the columns from which the default of a column is computed.
inline void mark_for_default(TABLE& table, Field& column);
// After an update: computes the virtual columns that are read but not stored.
inline void refresh_virtual_columns(TABLE& table);

// Whether the engine leaves it to the server to find out where rows with equal keys end, and puts only
// the columns that are read into the record. The server compares the record's columns with the key, so
// those of the index have to be read.
inline bool ends_by_columns(const TABLE& table);

// Reads the index alone, without the rows.
inline void start_keyread(TABLE& table, unsigned index);
inline void end_keyread(TABLE& table);

// Whether it has columns like BLOB and TEXT, whose values are not in the record.
inline bool has_blobs(const TABLE& table);
// Of the row in the record: how many bytes of such columns the engine has read for it.
inline std::size_t blob_bytes(const TABLE& table);

// System versioning: tables that also keep old versions of rows.
inline bool is_versioned(const TABLE& table);
inline bool is_current_row(const TABLE& table);
inline void mark_version_columns(TABLE& table);

inline bool has_transactions(const TABLE& table);
// Whether the engine, with the THD's settings, refuses every locked row at once, for every kind of
// write.
inline bool refuses_locked_rows(const TABLE& table);
// A sequence, from which defaults take numbers. As with AUTO_INCREMENT, a number is never given
// back.
inline bool is_sequence(const TABLE& table);

// If the engine cannot change rows, the error with which UPDATE and DELETE end; otherwise 0. It has
// to be asked before a row is searched: such an engine may take minutes to find one.
inline std::uint32_t modification_refused(const TABLE& table);

// Whether an engine takes part in the current statement of the transaction.
inline bool is_statement_open(const THD* thd);
// Notes that a table without transactions was changed, so that not everything can be rolled back.
inline void note_unsafe_change(THD* thd);
// Whether the transaction can be rolled back to a savepoint without a word in the binary log.
inline bool can_return_to_savepoint(const THD* thd);
// How many files the server may have open by its own settings: the sockets of its sessions, and two
// files for each table in its cache.
inline std::uint64_t most_open_files();

// Whether expressions of the table (defaults, virtual columns), or its triggers, may ask who the user
// is: when a row is changed, and when one is read.
inline bool asks_for_user(const TABLE& table);
inline bool asks_for_user_to_read(const TABLE& table);
// Makes the expressions ask again, as another user acts now. False: an error was raised.
inline bool forget_user(THD* thd, TABLE& table);
// Whether the user who acts may draw from the sequences of the table's defaults. False: an error was
// raised.
inline bool may_use_sequences(THD* thd, TABLE& table);
// The columns that SQL would name to use a key part: the column itself, or those of an expression.
inline std::vector<std::string> columns_of_key_part(const TABLE& table, const Field& part);

// Whether the server's audit trail wants to know which tables are used.
inline bool audits_tables();

// SQL's query cache must forget its results from this table.
inline void forget_cached_results(THD* thd, TABLE& table);

}  // namespace hs::mysqld::server

#include "family_tables.h"

namespace hs::mysqld::server {

inline bool has_blobs(const TABLE& table) { return table.s->blob_fields != 0; }

inline std::size_t blob_bytes(const TABLE& table) {
  std::size_t bytes = 0;
  for (unsigned i = 0; i < table.s->blob_fields; ++i) {
    const unsigned number = table.s->blob_field[i];
    Field& field = *table.field[number];
    if (bitmap_is_set(table.read_set, number) && !field.is_null()) bytes += bytes_of_blob(field);
  }
  return bytes;
}

}  // namespace hs::mysqld::server
