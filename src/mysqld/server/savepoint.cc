#include "mysqld/server/savepoint.h"

#include <cstdint>
#include <new>
#include <utility>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

// The binary log names its event after this. It never writes the event.
char unit_name[] = "unit";

SAVEPOINT* savepoint_at(std::byte* place) {
  return std::launder(reinterpret_cast<SAVEPOINT*>(place));
}

}  // namespace

bool Savepoint::set() {
  // INSTALL PLUGIN may have brought another engine, which needs room, too.
  const std::size_t size = sizeof(SAVEPOINT) + savepoint_alloc_size;
  if (size > size_) {
    place_ = std::make_unique<std::byte[]>(size);
    size_ = size;
  }
  auto* const savepoint = new (place_.get()) SAVEPOINT{};
  thd_->lex->ident = {unit_name, sizeof unit_name - 1};
  // Without this option the binary log remembers how far it has come, and writes nothing.
  const auto options = thd_->variables.option_bits;
  thd_->variables.option_bits &= ~std::uint64_t{OPTION_BIN_LOG};
  const bool failed = ha_savepoint(thd_, savepoint) != 0;
  thd_->variables.option_bits = options;
  thd_->clear_error();
  return !failed;
}

bool Savepoint::roll_back() {
  // Otherwise the binary log would write that it rolls back to a savepoint of which it has not told.
  if (!can_return_to_savepoint(thd_)) return false;
  // MySQL's binary log obeys only this command if it joined the transaction after the savepoint.
  const auto command = std::exchange(thd_->lex->sql_command, SQLCOM_ROLLBACK_TO_SAVEPOINT);
  const bool failed = ha_rollback_to_savepoint(thd_, savepoint_at(place_.get())) != 0;
  thd_->lex->sql_command = command;
  thd_->clear_error();
  forget();
  return !failed;
}

void Savepoint::forget() {
  ha_release_savepoint(thd_, savepoint_at(place_.get()));
  thd_->clear_error();
}

}  // namespace hs::mysqld::server
