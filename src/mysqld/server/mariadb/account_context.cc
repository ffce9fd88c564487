#include "mysqld/server/account_context.h"

#include <algorithm>
#include <array>
#include <cstring>
#include <optional>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/mariadb/logged_in.h"

namespace hs::mysqld::server {
namespace {

privilege_t bits_of(Privilege privilege) {
  switch (privilege) {
    case Privilege::select: return SELECT_ACL;
    case Privilege::insert: return INSERT_ACL;
    case Privilege::update: return UPDATE_ACL;
    case Privilege::erase: break;
  }
  return DELETE_ACL;
}

class Context final : public AccountContext {
 public:
  Context(THD* thd, std::string user, std::string host)
      : thd_(thd), user_(std::move(user)), host_(std::move(host)) {
    context_.init();
  }
  ~Context() override = default;  // the context points to members, and owns nothing

  // Other sessions may look at the THD's context at any time (SHOW PROCESSLIST). So what it points
  // to stays where it is.
  Begun begin(LoggedIn* logged_in, const std::string& database, const std::string& table) override {
    if (!find(logged_in)) return Begun::unknown;
    database_ = database;
    table_ = table;
    const LEX_CSTRING database_name{database_.c_str(), database_.size()};
    const LEX_CSTRING table_name{table_.c_str(), table_.size()};
    request_.init_one_table(&database_name, &table_name, nullptr, TL_READ);
    state_.emplace(thd_);
    before_ = thd_->security_ctx;
    thd_->security_ctx = &context_;
    return Begun::ready;
  }
  bool end() override {
    thd_->security_ctx = before_;
    state_.reset();
    return true;
  }

  // USER() asks the THD's main context.
  Begun act(LoggedIn* logged_in) override {
    if (!find(logged_in)) return Begun::unknown;
    Security_context& main = thd_->main_security_ctx;
    main_user_ = main.user;
    main_host_ = main.host_or_ip;
    main.user = logged_in != nullptr ? context_.user : user_.c_str();
    main.host_or_ip = logged_in != nullptr ? context_.host_or_ip : host_.c_str();
    before_ = thd_->security_ctx;
    thd_->security_ctx = &context_;
    return Begun::ready;
  }
  void stop_acting() override {
    thd_->security_ctx = before_;
    thd_->main_security_ctx.user = main_user_;
    thd_->main_security_ctx.host_or_ip = main_host_;
  }

  // For a client that has logged in, with the number of its log-in.
  std::uint32_t tell_of_access(LoggedIn* logged_in, TABLE& table, Purpose purpose) override {
    if (!find(logged_in)) return 0;
    const bool has_client = logged_in != nullptr;
    const my_thread_id id =
        has_client ? static_cast<LoggedInAccount*>(logged_in)->id() : thd_->thread_id;
    const char* const user = has_client ? context_.user : user_.c_str();
    const char* const host = has_client ? context_.host : host_.c_str();
    Security_context* const before = thd_->security_ctx;
    thd_->security_ctx = &context_;
    mysql_audit_external_lock_ex(thd_, id, user, host != nullptr ? host : "",
                                 has_client && context_.ip != nullptr ? context_.ip : "",
                                 thd_->query_id, table.s, is_write(purpose) ? F_WRLCK : F_RDLCK);
    thd_->security_ctx = before;
    return 0;
  }

  bool has_every_privilege() override {
    return extent_of(SELECT_ACL | INSERT_ACL | UPDATE_ACL | DELETE_ACL) == Extent::all;
  }
  bool is_exempt() override { return (context_.master_access & PRIV_IGNORE_READ_ONLY) != NO_ACL; }
  Extent extent(Privilege privilege) override { return extent_of(bits_of(privilege)); }

  bool sees_database() override {
    constexpr privilege_t any = DB_ACLS | SHOW_DB_ACL;
    return (context_.master_access & any) != NO_ACL ||
           acl_get_all3(&context_, database_.c_str(), false) != NO_ACL ||
           !check_grant_db(thd_, database_.c_str());
  }

  bool has_column(Privilege privilege, const std::string& column) override {
    const privilege_t wanted = bits_of(privilege);
#if MYSQL_VERSION_ID >= 110400
    const privilege_t granted =
        get_column_grant(thd_, &request_.grant, request_.db, request_.table_name,
                         Lex_ident_column(column.c_str(), column.size()));
#else
    const privilege_t granted =
        get_column_grant(thd_, &request_.grant, database_.c_str(), table_.c_str(), column.c_str());
#endif
    return (granted & wanted) == wanted;
  }

 private:
  // False: there is no such account.
  bool find(LoggedIn* logged_in) {
    if (logged_in == nullptr) return look_up();
    become(static_cast<LoggedInAccount*>(logged_in)->context());
    return true;
  }

  using Text = std::array<char, std::max<std::size_t>(USERNAME_LENGTH, MAX_HOSTNAME) + 1>;

  // Never more than there is room for, and always with a zero byte at the end.
  static const char* copy(const char* from, Text& to) {
    if (from == nullptr) return nullptr;
    std::strncpy(to.data(), from, to.size() - 1);
    return to.data();
  }

  // The context of a client may end as soon as its connection ends, so other sessions must not see
  // it here.
  void become(const Security_context& client) {
    Security_context next = client;
    next.user = copy(client.user, client_user_);
    next.host = copy(client.host, client_host_);
    next.ip = copy(client.ip, client_ip_);
    next.host_or_ip = next.host != nullptr ? next.host : next.ip;
    next.external_user = nullptr;
    context_ = next;
  }

  // The server does this for the definer of a view. It finds the first account whose pattern
  // matches the host, which might be another one.
  bool look_up() {
#if MYSQL_VERSION_ID >= 110400
    const LEX_CSTRING user{user_.c_str(), user_.size()};
    const LEX_CSTRING host{host_.c_str(), host_.size()};
    const bool failed = acl_getroot(&context_, user, host, host, empty_clex_str);
#else
    const bool failed = acl_getroot(&context_, user_.c_str(), host_.c_str(), host_.c_str(), "");
#endif
    if (failed) return false;
    const bool checks_nothing = context_.priv_host[0] == '\0' && context_.priv_user[0] == '\0' &&
                                !user_.empty();  // skip_grant_tables
    return checks_nothing || strcasecmp(context_.priv_host_name(), host_.c_str()) == 0;
  }

  Extent extent_of(privilege_t wanted) {
    if (check_table_access(thd_, wanted, &request_, false, 1, true)) return Extent::nothing;
    const bool all = (request_.grant.privilege & wanted) == wanted ||
                     (context_.master_access & wanted) == wanted;
    return all ? Extent::all : Extent::some;
  }

  THD* thd_;
  const std::string user_;
  const std::string host_;
  Text client_user_{};
  Text client_host_{};
  Text client_ip_{};
  std::string database_;
  std::string table_;
  Security_context context_;
  Security_context* before_ = nullptr;
  std::optional<KeptState> state_;
  const char* main_user_ = nullptr;
  const char* main_host_ = nullptr;
  TABLE_LIST request_;
};

}  // namespace

std::unique_ptr<AccountContext> AccountContext::make(THD* thd, const std::string& user,
                                                     const std::string& host) {
  return std::make_unique<Context>(thd, user, host);
}

}  // namespace hs::mysqld::server
