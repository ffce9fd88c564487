#include "mysqld/server/log_in_thd.h"

#include "mysqld/server/mariadb/logged_in.h"

namespace hs::mysqld::server {

void keep_open(Vio& vio) {
  vio.vioclose = [](Vio*) { return 0; };
  vio.shutdown = [](Vio*, int) { return 0; };
  vio.vioblocking = [](Vio*, my_bool, my_bool*) { return 0; };
}

LogInThd::LogInThd(const Client& client, Vio* vio)
    : before_(current_thd), thd_(new THD(next_thread_id())) {
  thd_->thread_stack = reinterpret_cast<char*>(this);
  thd_->store_globals();
  my_net_init(&thd_->net, vio, thd_, MYF(MY_THREAD_SPECIFIC));
  init_net_server_extension(thd_);
  thd_->security_ctx->host = client.is_unix_socket ? my_localhost : nullptr;
  server_threads.insert(thd_);
}

LogInThd::~LogInThd() {
  end_connection(thd_);
  // Not sooner: the statistics of users name the account at its end.
  if (is_taken_) thd_->main_security_ctx.init();
  server_threads.erase(thd_);
  delete thd_;
  if (before_ != nullptr) before_->store_globals();
}

bool LogInThd::password_has_expired() const { return thd_->main_security_ctx.password_expired; }

std::unique_ptr<LoggedIn> LogInThd::take_account() {
  auto account = std::make_unique<LoggedInAccount>(thd_->main_security_ctx, thd_->user_connect);
  thd_->user_connect = nullptr;
  is_taken_ = true;
  return account;
}

}  // namespace hs::mysqld::server
