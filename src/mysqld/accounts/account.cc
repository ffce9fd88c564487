#include "mysqld/accounts/account.h"

#include <exception>

namespace hs::mysqld {

Account::~Account() {
  if (logged_in_ == nullptr) return;
  try {
    if (auto departure = logged_in_->departure()) departures_->add(std::move(departure));
  } catch (const std::exception&) {  // no memory for the note
  }
}

}  // namespace hs::mysqld
