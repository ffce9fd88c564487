// The ports of the table in base/ports.h, as the settings want them.
//
// Owns their network server. The thread that starts and stops the plugin opens and closes it.
// Meanwhile any thread of the server may ask what is connected, and end a connection.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <string>
#include <string_view>

#include "keys/containers.h"
#include "mysqld/store/table_store.h"
#include "net/server.h"

namespace hs::mysqld {

// Logs an error for what cannot be listened on, and serves the rest.
void open_ports();
// Of the ports that are open.
void say_where_ports_listen();
void warn_if_nobody_may_do_anything();
// Hands on the settings that may change while the ports are open. One thread at a time.
void apply_settings();
// The same for the accounts as which clients act. They count for who connects, or gives the secret,
// from now on.
void apply_accounts();
// Ends every connection. Waits for no client.
void close_ports();

// Both wait for the workers' answers, but not longer than this.
inline constexpr std::chrono::milliseconds patience_with_workers{2000};

// Each connection has the number of its port in the table. None if no port is open.
net::ConnectionList all_connections();

struct OpenIndexes {
  // by their names, each with a TAB behind it
  std::map<std::string, TableStore::OpenedIndex, std::less<>> indexes;
  bool is_complete = true;
};
// Of the workers that belong to this port.
OpenIndexes open_indexes_of(std::size_t workers);

net::Closing close_connection(std::uint64_t id);

// Null if no port is open.
std::shared_ptr<const keys::ContainerSource::Judgement> containers_at_last_look();

}  // namespace hs::mysqld
