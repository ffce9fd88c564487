#include "mysqld/server/account_context.h"

#include <optional>
#include <utility>

#include "mysqld/server/api.h"
#include "mysqld/server/mysql/logged_in.h"

namespace hs::mysqld::server {
namespace {

Access_bitmask bits_of(Privilege privilege) {
  switch (privilege) {
    case Privilege::select: return SELECT_ACL;
    case Privilege::insert: return INSERT_ACL;
    case Privilege::update: return UPDATE_ACL;
    case Privilege::erase: break;
  }
  return DELETE_ACL;
}

unsigned long table_event(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert:
    case Purpose::insert_or_update:
    case Purpose::replace: return EVENT_TRACKING_TABLE_ACCESS_INSERT;
    case Purpose::update: return EVENT_TRACKING_TABLE_ACCESS_UPDATE;
    case Purpose::erase: return EVENT_TRACKING_TABLE_ACCESS_DELETE;
    case Purpose::lock:  // as SELECT ... FOR UPDATE
    case Purpose::read: break;
  }
  return EVENT_TRACKING_TABLE_ACCESS_READ;
}

// The server's own function would take the number of the connection from the THD.
std::uint32_t tell_audit(THD* thd, const TABLE_SHARE& table, Purpose purpose, my_thread_id id) {
  constexpr auto events = Event_tracking_class::TABLE_ACCESS;
  mysql_event_tracking_table_access_data event{};
  event.event_subclass = table_event(purpose);
  if (thd->check_event_subscribers(events, event.event_subclass, false)) return 0;
  event.connection_id = id;
  event.table_database = {table.db.str, table.db.length};
  event.table_name = {table.table_name.str, table.table_name.length};
  st_mysql_event_generic generic{events, &event, nullptr};
  const bool is_refused = thd->event_notify(&generic) || thd->is_error();
  // A plugin need not say why.
  const std::uint32_t error = thd->is_error() ? raised_error(thd) : ER_AUDIT_API_ABORT;
  thd->clear_error();
  return is_refused ? error : 0;
}

// Chooses the locks on the cache of privileges, among those that a THD has.
class LocksOfPrivileges final : public MDL_release_locks_visitor {
 public:
  bool release(MDL_ticket* ticket) override {
    return ticket->get_key()->mdl_namespace() == MDL_key::ACL_CACHE;
  }
};

class Context final : public AccountContext {
 public:
  Context(THD* thd, std::string user, std::string host)
      : thd_(thd), user_(std::move(user)), host_(std::move(host)) {}

  Begun begin(LoggedIn* logged_in, const std::string& database, const std::string& table) override {
    if (const Begun found = find(logged_in); found != Begun::ready) return found;
    database_ = database;
    table_ = table;
    request_.emplace(database_.c_str(), database_.size(), table_.c_str(), table_.size(), TL_READ,
                     MDL_SHARED_READ);
    state_.emplace(thd_);
    before_ = thd_->security_context();
    thd_->set_security_context(acting_);
    return Begun::ready;
  }
  bool end() override {
    thd_->set_security_context(before_);
    unlock();
    state_.reset();
    return !is_busy_;
  }

  // USER() asks the THD's main context. Other sessions look at the one that is set, so the main one
  // is changed only while it is not.
  Begun act(LoggedIn* logged_in) override {
    if (const Begun found = find(logged_in); found != Begun::ready) return found;
    before_ = thd_->security_context();
    thd_->set_security_context(acting_);
    Security_context& main = thd_->m_main_security_ctx;
    const LEX_CSTRING user = main.user();
    main_user_.assign(user.str, user.length);
    if (logged_in != nullptr) {
      const LEX_CSTRING client = acting_->user();
      const LEX_CSTRING client_host = acting_->host_or_ip();
      main.assign_user(client.str, client.length);
      main.set_host_or_ip_ptr(client_host.str, client_host.length);
    } else {
      main.assign_user(user_.data(), user_.size());
      main.set_host_or_ip_ptr(host_.data(), host_.size());
    }
    return Begun::ready;
  }
  void stop_acting() override {
    Security_context& main = thd_->m_main_security_ctx;
    main.assign_user(main_user_.data(), main_user_.size());
    main.set_host_or_ip_ptr("", 0);
    thd_->set_security_context(before_);
  }

  // For a client that has logged in, with the number of its log-in.
  std::uint32_t tell_of_access(LoggedIn* logged_in, TABLE& table, Purpose purpose) override {
    auto* const client = static_cast<LoggedInAccount*>(logged_in);
    Security_context* const before = thd_->security_context();
    thd_->set_security_context(client != nullptr ? &client->context() : &context_);
    const std::uint32_t error =
        tell_audit(thd_, *table.s, purpose, client != nullptr ? client->id() : thd_->thread_id());
    thd_->set_security_context(before);
    return error;
  }

  bool has_every_privilege() override {
    return extent_of(SELECT_ACL | INSERT_ACL | UPDATE_ACL | DELETE_ACL) == Extent::all;
  }
  bool is_exempt() override {
    if (!lock()) return false;
    return acting_->check_access(SUPER_ACL) ||
           acting_->has_global_grant(STRING_WITH_LEN("CONNECTION_ADMIN")).first;
  }
  Extent extent(Privilege privilege) override { return extent_of(bits_of(privilege)); }

  bool sees_database() override {
    if (!lock()) return false;
    if ((acting_->master_access(database_) & (DB_OP_ACLS | SHOW_DB_ACL)) != 0 ||
        acting_->db_acl({database_.c_str(), database_.size()}) != 0)
      return true;
    const bool is_granted = acl_get(thd_, acting_->host().str, acting_->ip().str,
                                    acting_->priv_user().str, database_.c_str(), false) != 0;
    return is_granted || (lock() && !check_grant_db(thd_, database_.c_str()));
  }

  bool has_column(Privilege privilege, const std::string& column) override {
    const Access_bitmask wanted = bits_of(privilege);
    if (!lock()) return false;
    return (get_column_grant(thd_, &request_->grant, database_.c_str(), table_.c_str(),
                             column.c_str()) &
            wanted) == wanted;
  }

 private:
  // Whoever has the account's name or log-in is `acting_` then.
  Begun find(LoggedIn* logged_in) {
    is_busy_ = false;
    if (!lock()) return Begun::busy;
    acting_ = &context_;
    bool known = true;
    if (logged_in != nullptr) {
      acting_ = &static_cast<LoggedInAccount*>(logged_in)->context();
      acting_->checkout_access_maps();
    } else {
      known = look_up();
    }
    unlock();
    return known ? Begun::ready : Begun::unknown;
  }

  // GRANT has this lock for as long as its writing to the disk takes. The server's questions take
  // it, too, and would answer "no" if they could not have it at once. So it is taken before each
  // question. A question that ends may have given it back.
  bool lock() {
    MDL_context& locks = thd_->mdl_context;
    if (locks.owns_equal_or_stronger_lock(MDL_key::ACL_CACHE, "", "", MDL_SHARED)) return true;
    MDL_request request;
    MDL_REQUEST_INIT(&request, MDL_key::ACL_CACHE, "", "", MDL_SHARED, MDL_EXPLICIT);
    const bool lacks_memory = locks.try_acquire_lock(&request);
    if (lacks_memory) thd_->clear_error();
    is_busy_ |= request.ticket == nullptr;
    return request.ticket != nullptr;
  }
  void unlock() {
    LocksOfPrivileges chosen;
    thd_->mdl_context.release_locks(&chosen);
  }

  // The server does this for the definer of a view. It finds the first account whose pattern
  // matches the host, which might be another one.
  bool look_up() {
    if (acl_getroot(thd_, &context_, user_.c_str(), host_.c_str(), host_.c_str(), nullptr))
      return false;
    if (::skip_grant_tables()) return true;
    const LEX_CSTRING found = context_.priv_host();
    return my_strcasecmp(system_charset_info, found.str, host_.c_str()) == 0;
  }

  // What the account has everywhere may be taken back for one database (partial revokes).
  Extent extent_of(Access_bitmask wanted) {
    if (!lock()) return Extent::nothing;
    if (check_table_access(thd_, wanted, &*request_, false, 1, true)) return Extent::nothing;
    const bool all = (request_->grant.privilege & wanted) == wanted ||
                     (acting_->master_access(database_) & wanted) == wanted;
    return all ? Extent::all : Extent::some;
  }

  THD* thd_;
  const std::string user_;
  const std::string host_;
  std::string database_;
  std::string table_;
  std::string main_user_;
  Security_context context_;
  Security_context* acting_ = nullptr;
  Security_context* before_ = nullptr;
  std::optional<KeptState> state_;
  std::optional<Table_ref> request_;
  bool is_busy_ = false;
};

}  // namespace

std::unique_ptr<AccountContext> AccountContext::make(THD* thd, const std::string& user,
                                                     const std::string& host) {
  return std::make_unique<Context>(thd, user, host);
}

}  // namespace hs::mysqld::server
