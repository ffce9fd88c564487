#include "mysqld/plugin/start_report.h"

#include <utility>

#include "mysqld/server/logging.h"
#include "mysqld/server/worker_thd.h"

namespace hs::mysqld {
namespace {

thread_local StartReport* current = nullptr;

}  // namespace

StartReport::StartReport() : client_(server::is_install_by_client() && !server::is_own_thread()) {
  before_ = std::exchange(current, this);
}

StartReport::~StartReport() { current = before_; }

void StartReport::tell(net::LogLevel level, std::string_view line) {
  const bool error = level == net::LogLevel::error;
  errors_ = errors_ || error;
  if (!client_) return;
  if (error) {
    server::tell_client_error(line);
  } else {
    server::tell_client_warning(line);
  }
}

void log(net::LogLevel level, std::string_view line) {
  if (level == net::LogLevel::error) {
    server::log_error(line);
  } else {
    server::log_warning(line);
  }
  if (current != nullptr) current->tell(level, line);
}

}  // namespace hs::mysqld
