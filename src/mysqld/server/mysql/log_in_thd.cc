#include "mysqld/server/log_in_thd.h"

#include <cstring>

#include "mysqld/server/mysql/logged_in.h"

namespace hs::mysqld::server {

void keep_open(Vio& vio) {
  vio.vioshutdown = [](Vio*) { return 0; };
}

LogInThd::LogInThd(const Client& client, Vio* vio) : before_(current_thd), thd_(new THD) {
  thd_->get_protocol_classic()->init_net(vio);
  init_net_server_extension(thd_);
  thd_->set_new_thread_id();
  thd_set_thread_stack(thd_, reinterpret_cast<char*>(this));
  thd_->store_globals();
  if (client.is_unix_socket)
    thd_->security_context()->set_host_ptr(my_localhost, std::strlen(my_localhost));
  Global_THD_manager::get_instance()->add_thd(thd_);
}

LogInThd::~LogInThd() {
  // A log-in may fail when it has its place among the account's connections already.
  if (!is_taken_) release_user_connection(thd_);
  close_connection(thd_, 0, false, false);
  thd_->get_stmt_da()->reset_diagnostics_area();
  thd_->release_resources();
  Global_THD_manager::get_instance()->remove_thd(thd_);
  delete thd_;
  if (before_ != nullptr) before_->store_globals();
}

bool LogInThd::password_has_expired() const { return thd_->security_context()->password_expired(); }

std::unique_ptr<LoggedIn> LogInThd::take_account() {
  auto account = std::make_unique<LoggedInAccount>(
      *thd_->security_context(), const_cast<USER_CONN*>(thd_->get_user_connect()));
  thd_->set_user_connect(nullptr);
  is_taken_ = true;
  return account;
}

}  // namespace hs::mysqld::server
