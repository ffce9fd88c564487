#include "mysqld/server/log_in_thd.h"

#include <cstring>
#include <string>
#include <utility>

#include "mysqld/server/mysql/logged_in.h"

namespace hs::mysqld::server {
namespace {

PSI_thread_key thread_key() {
  static const PSI_thread_key registered = [] {
    PSI_thread_key key = 0;
    PSI_thread_info thread{&key, "log_in", "hs_log_in", 0, 0, "Logs in a client of handlersocket"};
    mysql_thread_register("handlersocket", &thread, 1);
    return key;
  }();
  return registered;
}

// MySQL takes the number of a connection from the THD, and that of the log-in is gone. So the line
// names it.
class LoggedDeparture final : public Departure {
 public:
  LoggedDeparture(my_thread_id id, std::string name) : id_(id), name_(std::move(name)) {}

  void tell() const override {
    query_logger.general_log_print(current_thd, COM_QUIT, "connection %u, %s",
                                   static_cast<unsigned>(id_), name_.c_str());
  }

 private:
  const my_thread_id id_;
  const std::string name_;
};

}  // namespace

std::unique_ptr<Departure> LoggedInAccount::departure() const {
  if (!opt_general_log) return nullptr;
  return std::make_unique<LoggedDeparture>(id_, name());
}

void keep_open(Vio& vio) {
  vio.vioshutdown = [](Vio*) { return 0; };
}

LogInThd::LogInThd(const Client& client, Vio* vio) : before_(current_thd), thd_(new THD) {
  thd_->get_protocol_classic()->init_net(vio);
  init_net_server_extension(thd_);
  thd_->set_new_thread_id();
  // performance_schema counts accounts, users and hosts by the server's threads, so a log-in looks
  // like one.
  PSI_thread* const psi = PSI_THREAD_CALL(new_thread)(thread_key(), 0, thd_, thd_->thread_id());
  PSI_THREAD_CALL(set_thread_os_id)(psi);
  PSI_THREAD_CALL(set_thread)(psi);
  thd_->set_psi(psi);
  thd_set_thread_stack(thd_, reinterpret_cast<char*>(this));
  thd_->store_globals();
  if (client.is_unix_socket)
    thd_->security_context()->set_host_ptr(my_localhost, std::strlen(my_localhost));
  Global_THD_manager::get_instance()->add_thd(thd_);
}

LogInThd::~LogInThd() {
  if (!is_taken_) {
    Connection_handler_manager::get_instance()->inc_aborted_connects();
    // A log-in may fail when it has its place among the account's connections already.
    release_user_connection(thd_);
  }
  close_connection(thd_, 0, false, false);
  thd_->get_stmt_da()->reset_diagnostics_area();
  thd_->release_resources();
  Global_THD_manager::get_instance()->remove_thd(thd_);
  delete thd_;
  PSI_THREAD_CALL(delete_current_thread)();
  if (before_ != nullptr) before_->store_globals();
}

bool LogInThd::password_has_expired() const { return thd_->security_context()->password_expired(); }

std::unique_ptr<LoggedIn> LogInThd::take_account() {
  auto account = std::make_unique<LoggedInAccount>(*thd_->security_context(),
                                                   const_cast<USER_CONN*>(thd_->get_user_connect()),
                                                   thd_->thread_id());
  thd_->set_user_connect(nullptr);
  is_taken_ = true;
  return account;
}

}  // namespace hs::mysqld::server
