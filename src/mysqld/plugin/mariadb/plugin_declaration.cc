// What MariaDB looks for in the library.
#include "mysqld/plugin/mariadb/tables_schema.h"
#include "mysqld/plugin/plugin.h"
#include "mysqld/plugin/shown_tables.h"
#include "mysqld/plugin/status_variables.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/server/api.h"
#include "mysqld/server/logging.h"

namespace hs::mysqld {
namespace {

// A node of a Galera cluster executes UNINSTALL between two commits, and lets no later commit end
// before it. But UNINSTALL would wait for the workers, and a worker for its commit. So in a cluster
// the server refuses UNINSTALL.
void keep_loaded_in_cluster(st_plugin_int& plugin) {
  if (WSREP_ON_) plugin.load_option = PLUGIN_FORCE_PLUS_PERMANENT;
}

int init(void* plugin) {
  server::begin_logging(plugin);
  keep_loaded_in_cluster(*static_cast<st_plugin_int*>(plugin));
  return start_plugin() ? 0 : 1;
}

int deinit(void* /*plugin*/) {
  stop_plugin();
  return 0;
}

st_mysql_daemon descriptor{MYSQL_DAEMON_INTERFACE_VERSION};
st_mysql_information_schema table_descriptor{MYSQL_INFORMATION_SCHEMA_INTERFACE_VERSION};

template <std::size_t number>
st_maria_plugin declare_table() {
  return {
      MYSQL_INFORMATION_SCHEMA_PLUGIN,
      &table_descriptor,
      shown_tables[number]->name,
      "HandlerSocket 2",
      shown_tables[number]->comment,
      PLUGIN_LICENSE_GPL,
      init_table_schema<number>,
      nullptr,  // nothing to do at its end
      0x0200,
      nullptr,
      nullptr,
      "2.0",
      MariaDB_PLUGIN_MATURITY_STABLE,
  };
}

}  // namespace
}  // namespace hs::mysqld

#pragma GCC visibility push(default)
maria_declare_plugin(handlersocket){
    MYSQL_DAEMON_PLUGIN,
    &hs::mysqld::descriptor,
    "handlersocket",
    "HandlerSocket 2",
    "Reads and writes tables over the HandlerSocket protocol",
    PLUGIN_LICENSE_GPL,
    hs::mysqld::init,
    hs::mysqld::deinit,
    0x0200,
    hs::mysqld::status_variables(),
    hs::mysqld::system_variables(),
    "2.0",
    MariaDB_PLUGIN_MATURITY_STABLE,
},
    hs::mysqld::declare_table<0>(), hs::mysqld::declare_table<1>(), hs::mysqld::declare_table<2>(),
    hs::mysqld::declare_table<3>() maria_declare_plugin_end;
#pragma GCC visibility pop
