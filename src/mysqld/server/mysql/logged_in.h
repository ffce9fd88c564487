// MySQL's LoggedIn (server/log_in.h). log_in() makes it, and AccountContext reads it.
#pragma once

#include "mysqld/server/api.h"
#include "mysqld/server/log_in.h"

namespace hs::mysqld::server {

class LoggedInAccount final : public LoggedIn {
 public:
  // Copies the context, and takes the place. Null: none is counted.
  LoggedInAccount(Security_context& context, USER_CONN* place, my_thread_id id, enum_vio_type type)
      : LoggedIn(context.priv_user().str, context.priv_host().str),
        place_(place),
        id_(id),
        type_(type) {
    // A context that is made as a copy does not know whether it asks for rights at all.
    context_ = context;
    // A copy has no roles.
    for (const auto& [user, host] : *context.get_active_roles())
      context_.activate_role(user, host, false);
    context_.checkout_access_maps();
  }
  ~LoggedInAccount() override {
    if (place_ != nullptr) decrease_user_connections(place_);
  }

  Security_context& context() { return context_; }
  my_thread_id id() const { return id_; }
  std::string rights_key() const override;
  std::unique_ptr<Departure> departure() const override;

 private:
  Security_context context_;
  USER_CONN* const place_;
  const my_thread_id id_;  // of its log-in, by which the logs and the audit know the connection
  const enum_vio_type type_;
};

}  // namespace hs::mysqld::server
