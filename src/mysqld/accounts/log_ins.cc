#include "mysqld/accounts/log_ins.h"

#include <memory>
#include <utility>

#include "mysqld/accounts/account.h"
#include "mysqld/server/errors.h"
#include "mysqld/server/log_in.h"

namespace hs::mysqld {
namespace {

// More than any account has. The server is not asked about longer texts, nor about a zero byte,
// which would end a text in the server's protocol.
constexpr std::size_t longest_user = 1024;
constexpr std::size_t longest_password = 65536;

bool is_text(std::string_view text, std::size_t longest) {
  return text.size() <= longest && text.find('\0') == std::string_view::npos;
}

}  // namespace

store::LogIn LogIns::log_in(const store::Credentials& who) const {
  if (!is_text(who.user, longest_user) || !is_text(who.password, longest_password))
    return {.status = Error::wrong_log_in, .caller = nullptr, .may_be_guess = true};
  tell_departures();
  server::LogInResult result = server::log_in({.user = who.user,
                                               .password = who.password,
                                               .socket = who.socket,
                                               .is_unix_socket = who.is_unix_socket,
                                               .tls = who.tls});
  if (result.error != 0) {
    const Status status = server::status_of(result.error);
    return {
        .status = status, .caller = nullptr, .may_be_guess = status.kind() == Error::wrong_log_in};
  }
  return {.status = {},
          .caller = std::make_shared<Account>(std::move(result.account), departures_)};
}

}  // namespace hs::mysqld
