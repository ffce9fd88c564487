#include "mysqld/plugin/long_requests.h"

#include <algorithm>
#include <exception>
#include <iomanip>
#include <sstream>
#include <string>

#include "mysqld/server/logging.h"
#include "net/peer.h"

namespace hs::mysqld {
namespace {

// A name may have any characters, and a line has none that end it.
std::string on_one_line(std::string_view name) {
  std::string text(name);
  std::ranges::replace_if(
      text, [](unsigned char byte) { return byte < 0x20 || byte == 0x7F; }, '?');
  return text;
}

std::string place_of(const store::IndexNames& names) {
  const std::string database = on_one_line(names.database);
  if (database.empty()) return " of the databases";
  if (names.table.empty()) return " of the tables of " + database;
  return " on " + database + '.' + on_one_line(names.table) + " by its index " +
         (names.index.empty() ? "PRIMARY" : on_one_line(names.index));
}

}  // namespace

void log_long_request(const passes::LongRequest& request) try {
  std::ostringstream line;
  line << "handlersocket: a long " << request.kind << place_of(request.names) << " took "
       << std::fixed << std::setprecision(1) << std::chrono::duration<double>(request.time).count()
       << " s and looked at " << request.rows_examined << " rows: connection " << request.connection
       << " from " << request.peer->text();
  if (!request.account.empty()) line << " as " << on_one_line(request.account);
  server::log_milestone(line.str());
} catch (const std::exception&) {  // no memory for the line
}

}  // namespace hs::mysqld
