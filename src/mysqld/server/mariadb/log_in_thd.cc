#include "mysqld/server/log_in_thd.h"

#include <cstring>
#include <string>

#include "mysqld/server/mariadb/logged_in.h"

namespace hs::mysqld::server {
namespace {

std::string text(const char* chars) { return chars == nullptr ? "" : chars; }
unsigned length(const std::string& text) { return static_cast<unsigned>(text.size()); }

// What an audit plugin is told when a client has gone, and what the general log has of it.
class LoggedDeparture final : public Departure {
 public:
  LoggedDeparture(const Security_context& who, my_thread_id id)
      : id_(id),
        user_(text(who.user)),
        priv_user_(who.priv_user),
        priv_host_(who.priv_host),
        external_user_(text(who.external_user)),
        proxy_user_(who.proxy_user),
        host_(text(who.host)),
        ip_(text(who.ip)) {}

  void tell() const override {
    if (mysql_audit_connection_enabled()) tell_audit();
    if (opt_log) write_general_log();
  }

 private:
  void tell_audit() const {
    mysql_event_connection event{};
    event.event_subclass = MYSQL_AUDIT_CONNECTION_DISCONNECT;
    event.thread_id = static_cast<unsigned long>(id_);
    event.user = user_.c_str();
    event.user_length = length(user_);
    event.priv_user = priv_user_.c_str();
    event.priv_user_length = length(priv_user_);
    event.external_user = external_user_.c_str();
    event.external_user_length = length(external_user_);
    event.proxy_user = proxy_user_.c_str();
    event.proxy_user_length = length(proxy_user_);
    event.host = host_.c_str();
    event.host_length = length(host_);
    event.ip = ip_.c_str();
    event.ip_length = length(ip_);
    event.database = null_clex_str;
    mysql_audit_notify(current_thd, MYSQL_AUDIT_CONNECTION_CLASS, &event);
    mysql_audit_release(current_thd);
  }

  // The log takes the client and its number from a THD.
  void write_general_log() const {
    THD* const before = current_thd;
    THD* const thd = new THD(id_);
    thd->thread_stack = before->thread_stack;
    thd->store_globals();
    Security_context& who = thd->main_security_ctx;
    who.user = user_.c_str();
    who.host = who.host_or_ip = host_.empty() ? ip_.c_str() : host_.c_str();
    who.ip = ip_.c_str();
    std::strncpy(who.priv_user, priv_user_.c_str(), sizeof(who.priv_user) - 1);
    std::strncpy(who.priv_host, priv_host_.c_str(), sizeof(who.priv_host) - 1);
    general_log_print(thd, COM_QUIT, NullS);
    who.init();
    delete thd;
    before->store_globals();
  }

  const my_thread_id id_;
  const std::string user_;
  const std::string priv_user_;
  const std::string priv_host_;
  const std::string external_user_;
  const std::string proxy_user_;
  const std::string host_;
  const std::string ip_;
};

}  // namespace

void keep_open(Vio& vio) {
  vio.vioclose = [](Vio*) { return 0; };
  vio.shutdown = [](Vio*, int) { return 0; };
  vio.vioblocking = [](Vio*, my_bool, my_bool*) { return 0; };
}

// performance_schema counts accounts, users and hosts by the server's threads, so a log-in looks
// like one.
LogInThd::LogInThd(const Client& client, Vio* vio)
    : before_(current_thd),
      instrumented_(InstrumentedThread::Kind::log_in),
      thd_(new THD(next_thread_id())) {
  instrumented_->take(thd_);
  thd_->thread_stack = reinterpret_cast<char*>(this);
  thd_->store_globals();
  my_net_init(&thd_->net, vio, thd_, MYF(MY_THREAD_SPECIFIC));
  init_net_server_extension(thd_);
  thd_->security_ctx->host = client.is_unix_socket ? my_localhost : nullptr;
  server_threads.insert(thd_);
}

LogInThd::~LogInThd() {
  // The audit trail has been told that it began, also if it was refused after the password.
  if (!is_taken_) mysql_audit_notify_connection_disconnect(thd_, 0);
  // As in the server: a client that was not let in has no connection that could end.
  if (is_let_in_) end_connection(thd_);
  // A refused log-in is counted as when the session of a refused client ends. So it adds no row for
  // a stranger.
  if (!is_taken_ && thd_->userstat_running)
    update_global_user_stats(thd_, is_let_in_, time(nullptr));
  mysql_audit_release(thd_);
  // Not sooner: the statistics of users name the account at its end.
  if (is_taken_) thd_->main_security_ctx.init();
  server_threads.erase(thd_);
  delete thd_;
  instrumented_.reset();
  if (before_ != nullptr) before_->store_globals();
}

bool LogInThd::password_has_expired() const { return thd_->main_security_ctx.password_expired; }

std::unique_ptr<LoggedIn> LogInThd::take_account() {
  auto account = std::make_unique<LoggedInAccount>(thd_->main_security_ctx, thd_->user_connect,
                                                   thd_->thread_id);
  thd_->user_connect = nullptr;
  is_taken_ = true;
  return account;
}

// The server asks for grants by the account, the host and the role. What the account may do
// everywhere it has noted when the client logged in, so an older log-in may have less.
std::string LoggedInAccount::rights_key() const {
  std::string key;
  for (const char* const part :
       {context_.user, context_.host, context_.ip, context_.priv_user, context_.priv_host,
        context_.priv_role, context_.proxy_user, const_cast<const char*>(context_.external_user)}) {
    key.append(text(part)).push_back('\0');
  }
  for (const privilege_t noted : {context_.master_access, context_.db_access})
    key.append(std::to_string(static_cast<unsigned long long>(noted))).push_back('\0');
  return key;
}

std::unique_ptr<Departure> LoggedInAccount::departure() const {
  if (!mysql_audit_connection_enabled() && !opt_log) return nullptr;
  return std::make_unique<LoggedDeparture>(context_, id_);
}

}  // namespace hs::mysqld::server
