#include "mysqld/server/name_list.h"

#include <memory>
#include <span>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

struct CloseDirectory {
  void operator()(MY_DIR* directory) const { my_dirend(directory); }
};
using Directory = std::unique_ptr<MY_DIR, CloseDirectory>;

std::span<const fileinfo> entries_of(const MY_DIR& directory) {
  return {directory.dir_entry, directory.number_of_files};
}

std::string decoded(const char* file) {
  char name[NAME_LEN + 1];
  return {name, filename_to_tablename(file, name, sizeof(name), true)};
}

std::string directory_of(const std::string& database) {
  char path[FN_REFLEN + 1];
  return {path, build_table_filename(path, sizeof(path) - 1, database.c_str(), "", "", 0)};
}

// Or there is no such table any more.
bool is_view(THD* thd, const LEX_CSTRING& database, const LEX_CSTRING& table) {
  handlerton* engine = nullptr;
  bool is_sequence = false;
  const bool exists =
      ha_table_exists(thd, &database, &table, nullptr, nullptr, &engine, &is_sequence);
  return !exists || engine == view_pseudo_hton;
}

}  // namespace

// Each database is a directory in the server's own.
NamesRead read_databases(THD* /*thd*/, const TakeName& take) {
  const Directory directory(my_dir(mysql_real_data_home_ptr, MYF(MY_DONT_SORT | MY_WANT_STAT)));
  if (directory == nullptr) return NamesRead::failed;
  for (const fileinfo& entry : entries_of(*directory)) {
    if (entry.name[0] == '.' || !MY_S_ISDIR(entry.mystat->st_mode)) continue;
    const std::string name = decoded(entry.name);
    if (db_name_is_in_ignore_db_dirs_list(name.c_str())) continue;
    if (!take(name)) return NamesRead::stopped;
  }
  return NamesRead::all;
}

// Engines may know of tables that have no file of their own.
NamesRead read_tables(THD* thd, const std::string& database, const TakeName& take) {
  const Directory directory(my_dir(directory_of(database).c_str(), MYF(MY_DONT_SORT)));
  if (directory == nullptr) return NamesRead::missing;
  LEX_CSTRING name{database.c_str(), database.size()};
  constexpr LEX_CSTRING every{nullptr, 0};
  Dynamic_array<LEX_CSTRING*> tables(PSI_INSTRUMENT_MEM);
  Discovered_table_list found(thd, &tables, &every);
  if (ha_discover_table_names(thd, &name, directory.get(), &found, false) != 0)
    return NamesRead::failed;
  for (const LEX_CSTRING* const table :
       std::span<LEX_CSTRING* const>(tables.front(), tables.elements())) {
    if (is_view(thd, name, *table)) continue;
    if (!take({table->str, table->length})) return NamesRead::stopped;
  }
  return NamesRead::all;
}

}  // namespace hs::mysqld::server
