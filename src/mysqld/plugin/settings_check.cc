#include "mysqld/plugin/settings_check.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <vector>

#include "keys/containers.h"
#include "mysqld/accounts/database_list.h"
#include "mysqld/plugin/start_report.h"
#include "mysqld/plugin/system_variables.h"
#include "mysqld/server/api.h"
#include "mysqld/server/row_prefetch.h"
#include "mysqld/server/table_opening.h"

namespace hs::mysqld {
namespace {

const OptionInfo& info_of(Option option) { return option_table[static_cast<std::size_t>(option)]; }

std::string name_of(Option option) { return std::string("handlersocket_") + info_of(option).name; }

void refuse(const std::string& line) { log(net::LogLevel::error, "handlersocket: " + line); }

// 0 if it is no port to listen on. The option is a text, because an empty one means that there is
// no port, and because the server would turn a number that is too large into the largest.
unsigned port_of(Option option) { return net::port_number(text_option(option)).value_or(0); }

bool is_possible_port(Option option) {
  const std::string_view text = text_option(option);
  if (text.empty() || port_of(option) != 0) return true;
  refuse(name_of(option) + " is '" + std::string(text) +
         "': a port is a number from 1 to 65535, or empty for none");
  return false;
}

// A plugin starts before the server opens its own port. If the plugin took it, the server would not
// start.
bool leaves_the_servers(std::size_t listening) {
  const Option port = option_of(listening, PortOption::port);
  const Option socket = option_of(listening, PortOption::socket);
  const unsigned number = port_of(port);
  bool leaves = true;
  if (number != 0 && number == server::own_port()) {
    refuse(name_of(port) + " is " + std::to_string(number) + ", which is the server's own port");
    leaves = false;
  }
  const std::string_view path = text_option(socket);
  if (!path.empty() && path == server::own_socket()) {
    refuse(name_of(socket) + " is " + std::string(path) + ", which is the server's own socket");
    leaves = false;
  }
  return leaves;
}

bool are_the_same_port(Option one, Option other) {
  return port_of(one) != 0 && port_of(one) == port_of(other);
}
bool are_the_same_socket(Option one, Option other) {
  return !text_option(one).empty() && text_option(one) == text_option(other);
}

// Whether the option differs from that of every other port.
bool all_differ(PortOption which, bool (*are_the_same)(Option, Option)) {
  bool differing = true;
  for (std::size_t port = 0; port < port_count; ++port) {
    const Option one = option_of(port, which);
    for (std::size_t next = port + 1; next < port_count; ++next) {
      const Option other = option_of(next, which);
      if (!are_the_same(one, other)) continue;
      refuse(name_of(one) + " and " + name_of(other) + " are both " +
             std::string(text_option(one)));
      differing = false;
    }
  }
  return differing;
}

// INSTALL PLUGIN in MariaDB goes on after a value that is no number, with 0 in its place.
bool is_possible_number(const OptionInfo& info) {
  const std::uint64_t number = number_option(info.option);
  if (number >= info.least && number <= info.most) return true;
  refuse(name_of(info.option) + " was given a value that is no number from " +
         std::to_string(info.least) + " to " + std::to_string(info.most));
  return false;
}

void name_without_effect(Option option, const std::string& why) {
  log(net::LogLevel::warning, "handlersocket: " + name_of(option) + " does nothing: " + why);
}

bool is_given(Option option) {
  const OptionInfo& info = info_of(option);
  return is_number(info) ? server::was_set(name_of(option).c_str())
                         : text_option(option) != info.default_text;
}

// The server copies both names into a buffer of a fixed size when it is asked for privileges, and
// MariaDB does not look whether they fit.
constexpr std::size_t longest_account = 384;

bool is_account(Option option) {
  const std::string text = live_text_option(option);
  const std::string_view mistake = mistake_of_account(text);
  if (mistake.empty()) return true;
  refuse(name_of(option) + " is '" + text + "': " + std::string(mistake));
  return false;
}

// "neither A nor B is set", of options of which none is.
std::string none_is_set(const std::vector<Option>& options) {
  std::string text;
  for (const Option option : options)
    text += (text.empty() ? "neither " : " nor ") + name_of(option);
  return text + " is set";
}

// Of all ports.
std::vector<Option> options_of(PortOption which) {
  std::vector<Option> options;
  for (std::size_t port = 0; port < port_count; ++port) options.push_back(option_of(port, which));
  return options;
}

bool is_set(Option option) { return !text_option(option).empty(); }

// A port's workers serve others, too.
bool has_work(std::size_t port) {
  for (std::size_t served = 0; served < port_count; ++served) {
    if (is_served_by(served, port) && listens_on(served)) return true;
  }
  return false;
}

}  // namespace

bool settings_can_be_meant() {
  bool possible = true;
  const auto require = [&possible](bool condition) { possible = possible && condition; };
  const std::string_view encoding = text_option(Option::character_set);
  if (encoding != "utf8mb4" && encoding != "binary") {
    refuse("handlersocket_character_set has to be utf8mb4 or binary");
    possible = false;
  }
  const std::string_view tls = text_option(Option::tls);
  if (tls != "OFF" && tls != "PREFERRED" && tls != "REQUIRED") {
    refuse("handlersocket_tls has to be OFF, PREFERRED or REQUIRED");
    possible = false;
  }
  if (!net::file_mode(text_option(Option::socket_mode))) {
    refuse("handlersocket_socket_mode has to be an octal number up to 0777");
    possible = false;
  }
  for (const OptionInfo& info : option_table) {
    if (is_number(info)) require(is_possible_number(info));
  }
  if (!DatabaseList::parse(text_option(Option::databases))) {
    refuse("handlersocket_databases has to be names with commas between them");
    possible = false;
  }
  if (keys::ContainerSource source; !keys::read_source(text_option(Option::containers), source)) {
    refuse("handlersocket_containers has to be database.table");
    possible = false;
  }
  require(is_account(Option::anonymous_account));
  require(is_account(Option::secret_account));
  for (const Option port : options_of(PortOption::port)) require(is_possible_port(port));
  for (std::size_t port = 0; port < port_count; ++port) require(leaves_the_servers(port));
  require(all_differ(PortOption::port, are_the_same_port));
  require(all_differ(PortOption::socket, are_the_same_socket));
  return possible;
}

std::string_view mistake_of_account(std::string_view text) {
  if (text.empty()) return {};
  const std::size_t at = text.rfind('@');
  if (at == std::string_view::npos || at + 1 == text.size()) return "an account is user@host";
  if (at > USERNAME_LENGTH || text.size() > longest_account) return "no account has so long a name";
  return {};
}

bool listens_on(std::size_t port) {
  return is_set(option_of(port, PortOption::port)) || is_set(option_of(port, PortOption::socket));
}

bool listens_anywhere() {
  for (std::size_t port = 0; port < port_count; ++port) {
    if (listens_on(port)) return true;
  }
  return false;
}

void name_settings_without_effect() {
  for (const OptionInfo& info : option_table) {
    if (info.type == OptionType::ignored && is_given(info.option))
      name_without_effect(info.option, "it is accepted for the sake of the original's settings");
  }
  for (std::size_t port = 0; port < port_count; ++port) {
    const std::string why =
        none_is_set({option_of(port, PortOption::port), option_of(port, PortOption::socket)});
    for (const PortOption which : {PortOption::threads, PortOption::secret}) {
      if (!has_option(port, which) || !is_given(option_of(port, which))) continue;
      if (which == PortOption::threads ? !has_work(port) : !listens_on(port))
        name_without_effect(option_of(port, which), why);
    }
  }
  const std::vector<Option> sockets = options_of(PortOption::socket);
  if (std::ranges::none_of(sockets, is_set)) {
    for (const Option option : {Option::socket_mode, Option::socket_group}) {
      if (is_given(option)) name_without_effect(option, none_is_set(sockets));
    }
  }
  if (is_given(Option::threads_remote) && !server::has_remote_tables())
    name_without_effect(Option::threads_remote, "this server has no tables on other servers");
  if (switch_option(Option::prefetch) && !server::can_prefetch_rows())
    name_without_effect(Option::prefetch, "this server lends a plugin nothing of InnoDB");
  const std::vector<Option> ports = options_of(PortOption::port);
  if (is_given(Option::address) && std::ranges::none_of(ports, is_set))
    name_without_effect(Option::address, none_is_set(ports));
}

}  // namespace hs::mysqld
