// AccountContext: asks the server what an account may do, as the server itself would for SQL.
//
// Each worker has its own for each account of its port, and one for all clients that have logged
// in, on its own THD and thread. It keeps no answer. For an account that has a name only, each
// question begins with a look at the account as it is now. It never waits for a GRANT that is
// under way where the server lets it know of one.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "mysqld/server/types.h"

class THD;
struct TABLE;

namespace hs::mysqld::server {
class LoggedIn;
}

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

enum class Privilege : std::uint8_t { select, insert, update, erase };
inline constexpr Privilege every_privilege[] = {Privilege::select, Privilege::insert,
                                                Privilege::update, Privilege::erase};

// Of the columns of a table.
enum class Extent : std::uint8_t { nothing, some, all };

class AccountContext {
 public:
  // Both names are those of CREATE USER, or empty for clients that have logged in. The host is a
  // pattern, and is not matched.
  static std::unique_ptr<AccountContext> make(THD* thd, const std::string& user,
                                              const std::string& host);
  virtual ~AccountContext() = default;
  AccountContext(const AccountContext&) = delete;
  AccountContext& operator=(const AccountContext&) = delete;

  enum class Begun : std::uint8_t {
    ready,
    unknown,  // there is no such account
    busy,     // another session changes privileges: ask again later
  };
  // Until end(), the THD acts as the account, and questions are about this table. It need not
  // exist, and has no name if only the database is asked about. Without `ready` there is nothing to end. `logged_in` is null for the account with the
  // name, and otherwise exists until end().
  virtual Begun begin(LoggedIn* logged_in, const std::string& database,
                      const std::string& table) = 0;
  // False: meanwhile another session has begun to change privileges, and the answers are worthless.
  virtual bool end() = 0;

  // Until stop_acting(), the THD acts as the account for expressions and triggers that ask who the
  // user is: CURRENT_USER() is the account, and USER() has the client's host if it has logged in. No
  // question may be asked meanwhile. Without `ready` there is nothing to stop.
  virtual Begun act(LoggedIn* logged_in) = 0;
  virtual void stop_acting() = 0;

  // Tells the audit trail that the account uses a table. It was asked about before, in this pass, or
  // another log-in was that may do the same.
  // An audit plugin may refuse it: the error, or 0.
  virtual std::uint32_t tell_of_access(LoggedIn* logged_in, TABLE& table, Purpose purpose) = 0;

  virtual bool has_every_privilege() = 0;
  // Whether it may write though the server is read_only, and go on though it is in offline_mode.
  virtual bool is_exempt() = 0;
  virtual Extent extent(Privilege privilege) = 0;
  // Whether SHOW DATABASES shows the account the database.
  virtual bool sees_database() = 0;
  // Only after extent() has answered `some` for this privilege, and before it is asked again.
  virtual bool has_column(Privilege privilege, const std::string& column) = 0;

 protected:
  AccountContext() = default;
};

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
