// The names that TableStore tells its callers: of tables' columns and indexes, of databases, and of tables.
#include <strings.h>

#include <algorithm>
#include <string_view>
#include <unordered_set>

#include "mysqld/reading/table_description.h"
#include "mysqld/server/api.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/name_list.h"
#include "mysqld/server/table_opening.h"
#include "mysqld/store/table_store.h"

namespace hs::mysqld {
namespace {

using store::Outcome;

// Nobody can open their tables.
bool is_information(const std::string& database) {
  return ::strcasecmp(database.c_str(), "information_schema") == 0 ||
         ::strcasecmp(database.c_str(), "performance_schema") == 0;
}

}  // namespace

Outcome TableStore::describe_table(const store::IndexNames& names,
                                   const std::shared_ptr<const store::Caller>& caller,
                                   store::TableDescription& description) {
  if (!server::is_name(names.database) || !server::is_name(names.table)) return Error::no_table;
  if (const Outcome begun = pass_.begin_read(); !begun.ok()) return begun;
  const std::string database = server::stored_name(names.database);
  const std::string table = server::stored_name(names.table);
  if (!config_.databases.allows(database)) return store::access_denied;
  if (const Outcome may = access_.may_open(*caller, database, table); !may.ok()) return may;
  OpenTable* opened = nullptr;
  const Outcome outcome = tables_.open_reader(*tables_.slot(database, table), opened);
  meter_.look();
  if (!outcome.ok()) return outcome;
  const std::vector<std::string> columns = column_names_of(*opened->table);
  std::vector<bool> seen;
  if (const Outcome asked = access_.seen_columns(*caller, database, table, columns, seen);
      !asked.ok())
    return asked;
  std::unordered_set<std::string_view> shown;
  for (std::size_t i = 0; i < columns.size(); ++i) {
    if (seen[i]) shown.insert(columns[i]);
  }
  description =
      describe(*opened->table, [&](const std::string& name) { return shown.contains(name); });
  // A table may have thousands of columns. Others of the pass must not wait for many such requests.
  meter_.spend(columns.size());
  meter_.look();
  return {};
}

Outcome TableStore::may_list(const store::Caller& caller, const std::string& database) {
  if (is_information(database) || !config_.databases.allows(database))
    return store::database_denied;
  return access_.may_see(caller, database);
}

Outcome TableStore::failed_list() {
  THD* const thd = host_.thd();
  const bool is_killed = server::is_killed(thd);
  const std::uint32_t error = is_killed ? ER_QUERY_INTERRUPTED : server::raised_error(thd);
  thd->clear_error();
  if (server::open_failure(error) == server::OpenFailure::blocked) return store::Verdict::blocked;
  return server::status_of(error == 0 ? ER_UNKNOWN_ERROR : error);
}

Outcome TableStore::list_names(std::optional<std::string_view> database,
                               const std::shared_ptr<const store::Caller>& caller,
                               store::Sink* sink, std::vector<std::string>& names) {
  if (sink == nullptr) return store::Verdict::oversized;
  if (const Outcome begun = pass_.begin_read(); !begun.ok()) return begun;
  const bool is_of_tables = database.has_value();
  std::string in;
  if (is_of_tables) {
    if (!server::is_name(*database)) return store::no_database;
    in = server::stored_name(*database);
    if (const Outcome may = may_list(*caller, in); !may.ok()) return may;
  }
  THD* const thd = host_.thd();
  Outcome outcome;
  std::size_t bytes = 0;
  const auto take = [&](const std::string& name) {
    // A directory may have a name that P does not know.
    if (!server::is_name(name)) return true;
    if (sink->must_end() || server::is_killed(thd)) {
      outcome = server::status_of(ER_QUERY_INTERRUPTED);
    } else {
      outcome = is_of_tables ? access_.may_open(*caller, in, name) : may_list(*caller, name);
    }
    if (outcome.answered() && outcome.status().kind() == Error::denied) {
      outcome = {};
      return true;
    }
    if (!outcome.ok()) return false;
    names.push_back(name);
    bytes += name.size() + sizeof(std::string);
    if (bytes > max_listed_bytes) outcome = Error::too_large;
    return outcome.ok();
  };
  const server::NamesRead read =
      is_of_tables ? server::read_tables(thd, in, take) : server::read_databases(thd, take);
  if (read == server::NamesRead::missing) return store::no_database;
  if (read == server::NamesRead::failed) return failed_list();
  if (outcome.ok()) std::ranges::sort(names);
  return outcome;
}

}  // namespace hs::mysqld
