// Access: what the callers of a pass may do, asked at most once for each of them and each plan.
//
// Each worker's store has one, on its own thread. The plans keep the answers. The first request of
// each pass asks the server. It is asked again when others have joined the pass, and when the plan
// has been resolved for another version of its table. It opens no table.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/counters.h"
#include "mysqld/accounts/privileges.h"
#include "mysqld/reading/index_plan.h"
#include "mysqld/store/pass.h"
#include "store/store.h"

namespace hs::mysqld {

class Access {
 public:
  Access(HostThread& host, bool writes, CounterBlock& counters, Pass& pass)
      : privileges_(host.thd(), writes), counters_(counters), pass_(pass) {}

  // The requests that follow have come since the last ones.
  void ask_again() { ++asks_; }
  // Whether the caller may make a request, which `check` compares with the permissions.
  template <class Check>
  store::Outcome may(const store::IndexUse& use, Check check) {
    const Permissions* permissions = nullptr;
    const store::Outcome asked = permissions_of(use, permissions);
    if (!asked.ok()) return asked;
    is_exempt_ = permissions->is_exempt;
    if (server_is_offline(permissions->is_exempt)) [[unlikely]]
      return offline;
    return check(*permissions);
  }
  // Whether may() has refused a request for good, before its table is open. If only a column is
  // lacking, the table has to be opened first: its index may have other columns by now than those
  // about which the server was asked.
  static bool is_refused(store::Outcome allowed) {
    return !allowed.ok() && allowed.status() != column_denied;
  }
  // Whether the caller about whom may() was asked last is exempt from read_only.
  bool is_exempt() const { return is_exempt_; }
  // Asked before the table is opened. Who may see nothing of a table must not learn whether it
  // exists.
  store::Outcome may_open(const store::Caller& caller, const std::string& database,
                          const std::string& table);
  // Whether the caller has a privilege for anything in the database: `database_denied` if not.
  store::Outcome may_see(const store::Caller& caller, const std::string& database);
  // Which of these columns the caller may read or change in some way, as SHOW COLUMNS tells it.
  store::Outcome seen_columns(const store::Caller& caller, const std::string& database,
                              const std::string& table, std::span<const std::string> columns,
                              std::vector<bool>& seen);
  // Tells the server's audit trail that the caller uses the table. On MySQL, an audit plugin may
  // refuse it.
  Status tell(const store::IndexUse& use, TABLE& table, Purpose purpose);
  Privileges& privileges() { return privileges_; }

 private:
  // SQL's ER_SERVER_OFFLINE_MODE, which only MySQL has.
  static constexpr Status offline{Error::not_ready, 3032};

  store::Outcome permissions_of(const store::IndexUse& use, const Permissions*& permissions);
  static bool server_is_offline(bool is_exempt);

  Privileges privileges_;
  CounterBlock& counters_;
  Pass& pass_;
  std::uint64_t asks_ = 0;  // rises when what callers may do has to be asked again
  bool is_exempt_ = false;
};

}  // namespace hs::mysqld
