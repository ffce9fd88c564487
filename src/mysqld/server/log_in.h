// The log-in of a client as an account, by the server's own code.
//
// The server checks the user, the host from which the client's socket has come, the password by the
// plugin of the account, and every limit and rule that an account may have. It writes what it
// writes for a client of SQL to its logs, its audit trail and its tables.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// All views are valid only during the call.
struct Client {
  std::string_view user;
  std::string_view password;
  int socket = -1;  // asked for its addresses and its peer, but not read or written
  bool is_unix_socket = false;
  void* tls = nullptr;  // SSL; null: plain bytes

  // Whether nobody can read what it sends.
  bool is_safe() const { return tls != nullptr || is_unix_socket; }
};

// The end of a connection that was logged in, as the server's audit trail is told of it.
class Departure {
 public:
  virtual ~Departure() = default;
  Departure(const Departure&) = delete;
  Departure& operator=(const Departure&) = delete;

  // On any thread that has a THD and no table open. Takes as long as the audit plugins take.
  virtual void tell() const = 0;

 protected:
  Departure() = default;
};

// As whom a client has logged in: what the server knows about the account and its active roles, and
// a place among the account's connections, which is given back at the end. It may end on any
// thread. AccountContext asks what it may do.
class LoggedIn {
 public:
  virtual ~LoggedIn() = default;
  LoggedIn(const LoggedIn&) = delete;
  LoggedIn& operator=(const LoggedIn&) = delete;

  // `user@host`, as CURRENT_USER() would say.
  const std::string& name() const { return name_; }
  // All on which it depends what it may do, except for what the server looks up at each question. Two
  // log-ins with the same key may do the same. Empty: like no other.
  virtual std::string rights_key() const = 0;
  // At its end. Null if nobody wants to know of it.
  virtual std::unique_ptr<Departure> departure() const { return nullptr; }

 protected:
  LoggedIn(const char* user, const char* host) : name_(std::string(user) + '@' + host) {}

 private:
  const std::string name_;
};

struct LogInResult {
  std::uint32_t error = 0;  // the server's; 0: the client is logged in
  std::unique_ptr<LoggedIn> account;
};

// Called on a thread with a THD of its own, which it leaves as it is. Takes as long as it takes the
// server: passwords are hashed, and hosts are looked up.
LogInResult log_in(const Client& client);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
