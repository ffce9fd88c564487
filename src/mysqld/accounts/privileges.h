// Privileges: asks the server what the accounts of a port's connections may do.
//
// Each worker has one, on its own thread and THD. It keeps no answer: whoever asks keeps it for one
// pass at most, and asks again when others join the pass.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <vector>

#include "mysqld/accounts/account.h"
#include "mysqld/accounts/permissions.h"
#include "store/store.h"

namespace hs::mysqld {

// The names of an open index.
struct AskedNames {
  const std::string& database;
  const std::string& table;
  std::span<const std::string> columns{};
  std::span<const std::string> filter_columns{};
  std::span<const std::vector<std::string>> key_columns{};  // of each part
};

class Privileges {
 public:
  // `writes`: of a port that writes. Otherwise nobody asks what the account may write.
  Privileges(THD* thd, bool writes) : thd_(thd), writes_(writes) {}

  // `blocked` if the server cannot be asked now; an error if there is no such account.
  store::Outcome ask(const Account& account, const AskedNames& names, Permissions& permissions);
  // Which of the columns it may read, insert or update, on whatever port. The same outcomes.
  store::Outcome ask_seen(const Account& account, const AskedNames& names, std::vector<bool>& seen);

  // Whether it has a privilege for anything in the database. The same outcomes.
  store::Outcome ask_about_database(const Account& account, const std::string& database,
                                    bool& is_exempt, bool& sees);

  // Makes the THD act as the account, for what asks who the user is. An error if there is no such
  // account, `blocked` if the server cannot be asked now. Otherwise stop_acting() has to be called,
  // and no question may be asked before.
  store::Outcome act(const Account& account);
  void stop_acting(const Account& account);

  // Tells the server's audit trail that the account uses a table. On MySQL, an audit plugin may
  // refuse it. Only if the account, or one with the same rights, was asked about in this pass.
  Status tell_of_access(const Account& account, TABLE& table, Purpose purpose);

 private:
  template <class Ask>
  store::Outcome ask_context(const Account& account, const AskedNames& names, Ask ask);
  server::AccountContext& context_of(const Account& account);

  struct Known {
    std::string name;  // of an account; empty: of all that have logged in
    std::unique_ptr<server::AccountContext> context;
  };

  THD* thd_;
  const bool writes_;
  // Other sessions may look at a context at any time, so it stays until the worker ends. SET GLOBAL
  // can add some.
  std::vector<Known> contexts_;
};

}  // namespace hs::mysqld
