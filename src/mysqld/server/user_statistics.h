// UserStatistics: what the requests of each account read and change, for the server's tables
// user_statistics and client_statistics.
//
// Each store has one, on its own thread and THD. While the setting `userstat` is off it costs one
// comparison for each request. MySQL has no such tables, so there it does nothing. The server's
// numbers of the THD are added to an account's when another account's request follows, and at the
// end of the pass: so the commit of a pass is counted for the last account in it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

class THD;

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

class LoggedIn;

class UserStatistics {
 public:
  explicit UserStatistics(THD* thd);
  ~UserStatistics();
  UserStatistics(const UserStatistics&) = delete;
  UserStatistics& operator=(const UserStatistics&) = delete;

  // At the beginning of a pass: takes over whether the server counts.
  void begin_pass();
  bool is_on() const { return is_on_; }

  struct Request {
    std::uint64_t account = 0;            // a number of the account's own
    const LoggedIn* logged_in = nullptr;  // null: an account that has only these names
    std::string_view user;
    std::string_view host;
  };
  // What the THD does from now on is done for this request. Only while it is on.
  void begin(const Request& request);
  // The request that has begun last was answered. Only while it is on.
  void answered(bool writes);
  // Only while it is on.
  void end_pass();

  // Around a reset of the THD's session, which sets the server's numbers of the THD to 0. Only while
  // it is on.
  void before_reset();
  void after_reset();

 private:
  struct Counts;

  const std::unique_ptr<Counts> counts_;  // null: this server has no such tables
  bool is_on_ = false;
};

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
