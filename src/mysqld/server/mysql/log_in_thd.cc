#include "mysqld/server/log_in_thd.h"

#include <cstring>
#include <string>
#include <utility>

#include "mysqld/server/mysql/logged_in.h"
#include "mysqld/server/tables.h"

namespace hs::mysqld::server {
namespace {

bool audits_connections() {
  return is_audited(Event_tracking_class::CONNECTION, MYSQL_AUDIT_CONNECTION_CLASS);
}

mysql_cstring_with_length audit_text(LEX_CSTRING text) { return {text.str, text.length}; }

// The server's own function would take the number of the connection from the THD.
void tell_audit_of_end(THD* thd, const Security_context& who, my_thread_id id, enum_vio_type type) {
  constexpr auto events = Event_tracking_class::CONNECTION;
  mysql_event_tracking_connection_data event{};
  event.event_subclass = EVENT_TRACKING_CONNECTION_DISCONNECT;
  if (thd->check_event_subscribers(events, event.event_subclass, false)) return;
  event.connection_id = id;
  event.user = audit_text(who.user());
  event.priv_user = audit_text(who.priv_user());
  event.external_user = audit_text(who.external_user());
  event.proxy_user = audit_text(who.proxy_user());
  event.host = audit_text(who.host());
  event.ip = audit_text(who.ip());
  event.connection_type = type;
  st_mysql_event_generic generic{events, &event, nullptr};
  thd->event_notify(&generic);
  thd->clear_error();  // nobody can refuse an end
}

class LoggedDeparture final : public Departure {
 public:
  LoggedDeparture(const Security_context& who, std::string name, my_thread_id id,
                  enum_vio_type type)
      : name_(std::move(name)), id_(id), type_(type) {
    who_ = who;
  }

  void tell() const override {
    THD* const thd = current_thd;
    Security_context* const before = thd->security_context();
    thd->set_security_context(&who_);
    if (audits_connections()) tell_audit_of_end(thd, who_, id_, type_);
    thd->set_security_context(before);
    // The log takes the number of a connection from the THD, and that of the log-in is gone. So the
    // line names it.
    if (opt_general_log) {
      query_logger.general_log_print(thd, COM_QUIT, "connection %u, %s", static_cast<unsigned>(id_),
                                     name_.c_str());
    }
    mysql_audit_release(thd);  // the log is an event, too
  }

 private:
  mutable Security_context who_;  // a THD takes no constant one
  const std::string name_;
  const my_thread_id id_;
  const enum_vio_type type_;
};

}  // namespace

// The server asks for grants by the account, the host and the active roles. What the account may do
// everywhere it has noted when the client logged in, so an older log-in may have less. What is taken
// back from the account for one database (partial revokes) is noted, too, and not compared here.
std::string LoggedInAccount::rights_key() const {
  auto& context =
      const_cast<Security_context&>(context_);  // it only answers to what may be changed
  if (context.is_skip_grants_user() || context.has_drop_policy() ||
      !context.restrictions().is_empty()) {
    return {};
  }
  std::string key;
  const auto add = [&](const char* chars, std::size_t size) {
    key.append(std::to_string(size)).push_back(':');
    if (size != 0) key.append(chars, size);
  };
  for (const LEX_CSTRING& part :
       {context.user(), context.host(), context.ip(), context.priv_user(), context.priv_host(),
        context.proxy_user(), context.external_user()}) {
    add(part.str, part.length);
  }
  for (const auto& [user, host] : *context.get_active_roles()) {
    add(user.str, user.length);
    add(host.str, host.length);
  }
  for (const Access_bitmask noted : {context.master_access(), context.current_db_access()})
    key.append(std::to_string(noted)).push_back('.');
  return key;
}

std::unique_ptr<Departure> LoggedInAccount::departure() const {
  if (!audits_connections() && !opt_general_log) return nullptr;
  return std::make_unique<LoggedDeparture>(context_, name(), id_, type_);
}

void keep_open(Vio& vio) {
  vio.vioshutdown = [](Vio*) { return 0; };
}

LogInThd::LogInThd(const Client& client, Vio* vio)
    : before_(current_thd), instrumented_(InstrumentedThread::Kind::log_in), thd_(new THD) {
  thd_->get_protocol_classic()->init_net(vio);
  init_net_server_extension(thd_);
  thd_->set_new_thread_id();
  // performance_schema counts accounts, users and hosts by the server's threads, so a log-in looks
  // like one.
  instrumented_->take(thd_);
  thd_set_thread_stack(thd_, reinterpret_cast<char*>(this));
  thd_->store_globals();
  if (client.is_unix_socket)
    thd_->security_context()->set_host_ptr(my_localhost, std::strlen(my_localhost));
  Global_THD_manager::get_instance()->add_thd(thd_);
}

LogInThd::~LogInThd() {
  if (!is_taken_) {
    // As SQL tells it: the end of a connection that was let in, also if it was refused then.
    if (is_let_in_)
      mysql_event_tracking_connection_notify(thd_,
                                             AUDIT_EVENT(EVENT_TRACKING_CONNECTION_DISCONNECT), 0);
    Connection_handler_manager::get_instance()->inc_aborted_connects();
    // A log-in may fail when it has its place among the account's connections already.
    release_user_connection(thd_);
  }
  close_connection(thd_, 0, false, false);
  thd_->get_stmt_da()->reset_diagnostics_area();
  thd_->release_resources();
  Global_THD_manager::get_instance()->remove_thd(thd_);
  delete thd_;
  instrumented_.reset();
  if (before_ != nullptr) before_->store_globals();
}

bool LogInThd::password_has_expired() const { return thd_->security_context()->password_expired(); }

std::unique_ptr<LoggedIn> LogInThd::take_account() {
  auto account = std::make_unique<LoggedInAccount>(*thd_->security_context(),
                                                   const_cast<USER_CONN*>(thd_->get_user_connect()),
                                                   thd_->thread_id(), thd_->get_vio_type());
  thd_->set_user_connect(nullptr);
  is_taken_ = true;
  return account;
}

}  // namespace hs::mysqld::server
