#include "mysqld/server/name_list.h"

#include <algorithm>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

using dd::cache::Dictionary_client;
using Names = std::vector<dd::String_type>;

NamesRead take_all(const Names& names, const TakeName& take) {
  const bool took_all = std::ranges::all_of(names, [&](const dd::String_type& name) {
    return take({name.data(), name.size()});
  });
  return took_all ? NamesRead::all : NamesRead::stopped;
}

}  // namespace

NamesRead read_databases(THD* thd, const TakeName& take) {
  Names names;
  if (thd->dd_client()->fetch_global_component_names<dd::Schema>(&names)) return NamesRead::failed;
  return take_all(names, take);
}

NamesRead read_tables(THD* thd, const std::string& database, const TakeName& take) {
  const Dictionary_client::Auto_releaser releaser(thd->dd_client());
  dd::Schema_MDL_locker lock(thd);
  const dd::Schema* schema = nullptr;
  if (lock.ensure_locked(database.c_str()) || thd->dd_client()->acquire(database.c_str(), &schema))
    return NamesRead::failed;
  if (schema == nullptr) return NamesRead::missing;
  Names names;
  if (thd->dd_client()->fetch_schema_base_table_names_not_hidden_by_se(schema, &names))
    return NamesRead::failed;
  return take_all(names, take);
}

}  // namespace hs::mysqld::server
