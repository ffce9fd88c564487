// MariaDB's LoggedIn (server/log_in.h). log_in() makes it, and AccountContext reads it.
#pragma once

#include "mysqld/server/api.h"
#include "mysqld/server/log_in.h"

namespace hs::mysqld::server {

class LoggedInAccount final : public LoggedIn {
 public:
  // Takes the strings of the context, and the place. Null: none is counted.
  LoggedInAccount(const Security_context& context, USER_CONN* place, my_thread_id id)
      : LoggedIn(context.priv_user, context.priv_host[0] == '\0' ? "%" : context.priv_host),
        context_(context),
        place_(place),
        id_(id) {}
  ~LoggedInAccount() override {
    if (place_ != nullptr) decrease_user_connections(place_);
    context_.destroy();
  }

  const Security_context& context() const { return context_; }
  my_thread_id id() const { return id_; }
  std::string rights_key() const override;
  std::unique_ptr<Departure> departure() const override;

 private:
  Security_context context_;
  USER_CONN* const place_;
  const my_thread_id id_;  // of its log-in, by which the audit trail knows the connection
};

}  // namespace hs::mysqld::server
