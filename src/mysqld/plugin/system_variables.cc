#include "mysqld/plugin/system_variables.h"

#include <algorithm>
#include <array>
#include <exception>
#include <mutex>

#include "mysqld/plugin/plugin.h"
#include "mysqld/plugin/ports.h"
#include "mysqld/plugin/settings_check.h"
#include "mysqld/server/api.h"
#include "mysqld/server/row_prefetch.h"
#include "mysqld/server/worker_thd.h"

namespace hs::mysqld {
namespace {

// The layout of a variable as the server's macros make it: a header, a pointer to the value, the
// default and, for a number, its bounds and block size.
struct TextVariable {
  MYSQL_PLUGIN_VAR_HEADER;
  char** value;
  const char* default_value;
};

struct SwitchVariable {
  MYSQL_PLUGIN_VAR_HEADER;
  bool* value;
  bool default_value;
};

struct NumberVariable {
  MYSQL_PLUGIN_VAR_HEADER;
  unsigned long long* value;
  unsigned long long default_value;
  unsigned long long least;
  unsigned long long most;
  unsigned long long block_size;
};

// A trigger of a request must not do what waits for the threads that execute requests: it is on one
// of them.
bool refuse_on_own_thread(const char* name) {
  if (!server::is_own_thread()) return false;
  my_printf_error(
      ER_NOT_SUPPORTED_YET,
      "handlersocket_%s cannot be set by a trigger that a request of HandlerSocket fires", MYF(0),
      name);
  return true;
}

// SET GLOBAL handlersocket_close_connection = ID closes a connection. The server calls this before
// it would set the variable. The value stays 0.
int close_one(THD* /*thd*/, server::SystemVariable* /*variable*/, void* save,
              st_mysql_value* value) try {
  long long id = 0;
  if (value->val_int(value, &id) != 0) return 1;
  if (refuse_on_own_thread("close_connection")) return 1;
  *static_cast<long long*>(save) = 0;
  switch (close_connection(static_cast<std::uint64_t>(id))) {
    case net::Closing::begun: return 0;
    case net::Closing::unknown:
      my_error(ER_NO_SUCH_THREAD, MYF(0), static_cast<unsigned long>(id));
      return 1;
    case net::Closing::unanswered: break;
  }
  my_error(ER_LOCK_WAIT_TIMEOUT, MYF(0));
  return 1;
} catch (const std::exception&) {  // no memory
  my_error(ER_OUT_OF_RESOURCES, MYF(0));
  return 1;
}

void stay_as_it_is(THD* /*thd*/, server::SystemVariable* /*variable*/, void* /*value*/,
                   const void* /*save*/) {}

// SET GLOBAL of a number that may change. The server has checked its bounds. On MySQL this may come
// while the plugin starts or stops.
void take_over(THD* /*thd*/, server::SystemVariable* /*variable*/, void* value, const void* save) {
  change_setting(*static_cast<unsigned long long*>(value),
                 *static_cast<const unsigned long long*>(save));
}

// SET GLOBAL handlersocket_prefetch.
void take_over_prefetch(THD* /*thd*/, server::SystemVariable* /*variable*/, void* value,
                        const void* save) {
  const bool on = *static_cast<const bool*>(save);
  if (on && !server::can_prefetch_rows()) {
    my_printf_error(ER_NOT_SUPPORTED_YET,
                    "handlersocket_prefetch: this server lends a plugin nothing of InnoDB", MYF(0));
    return;
  }
  change_setting(*static_cast<bool*>(value), on);
}

// SET GLOBAL handlersocket_enabled. To close the ports means to wait for their threads.
void switch_over(THD* /*thd*/, server::SystemVariable* /*variable*/, void* value,
                 const void* save) try {
  const bool on = *static_cast<const bool*>(save);
  if (refuse_on_own_thread("enabled")) return;
  {
    const server::SettingsUnlocked others_may_go_on;
    switch_ports(on);
  }
  *static_cast<bool*>(value) = are_ports_on();
} catch (const std::exception&) {  // no memory
  my_error(ER_OUT_OF_RESOURCES, MYF(0));
}

// The server has put its own prefix before the name that the variable was declared with.
const char* option_name(const server::SystemVariable* variable);

// Of the texts that change.
std::mutex texts_mutex;

// SET GLOBAL of an account, before the server would set it.
int check_account(THD* thd, server::SystemVariable* variable, void* save, st_mysql_value* value) {
  std::array<char, 512> buffer;
  int length = buffer.size();
  const char* const text = value->val_str(value, buffer.data(), &length);
  const std::string_view account(text == nullptr ? "" : text,
                                 text == nullptr ? 0 : static_cast<std::size_t>(length));
  if (const std::string_view mistake = mistake_of_account(account); !mistake.empty()) {
    my_printf_error(ER_WRONG_VALUE_FOR_VAR, "handlersocket_%s: %.*s", MYF(0), option_name(variable),
                    static_cast<int>(mistake.size()), mistake.data());
    return 1;
  }
  *static_cast<const char**>(save) = thd->strmake(account.data(), account.size());
  return 0;
}

void take_over_account(THD* /*thd*/, server::SystemVariable* /*variable*/, void* value,
                       const void* save) {
  {
    const std::lock_guard lock(texts_mutex);
    server::replace_text(*static_cast<char**>(value), *static_cast<const char* const*>(save));
  }
  const server::SettingsUnlocked others_may_go_on;  // while accounts are looked up
  change_accounts();
}

struct Variables {
  std::array<bool, option_count> switches{};
  std::array<char*, option_count> texts{};
  std::array<unsigned long long, option_count> numbers{};
  std::array<SwitchVariable, option_count> switch_variables{};
  std::array<TextVariable, option_count> text_variables{};
  std::array<NumberVariable, option_count> number_variables{};
  unsigned long long no_connection = 0;
  NumberVariable closing{PLUGIN_VAR_LONGLONG | PLUGIN_VAR_UNSIGNED | PLUGIN_VAR_NOCMDOPT,
                         "close_connection",
                         "SET GLOBAL to the id of a connection closes it",
                         close_one,
                         stay_as_it_is,
                         &no_connection,
                         0,
                         0,
                         ~0ULL,
                         0};
  std::array<server::SystemVariable*, option_count + 2> list{};

  Variables() {
    for (std::size_t i = 0; i < option_count; ++i) {
      const OptionInfo& info = option_table[i];
      if (info.type == OptionType::live_switch)
        list[i] = make_switch(i, info);
      else
        list[i] = is_number(info) ? make_number(i, info) : make_text(i, info);
    }
    list[option_count] = reinterpret_cast<server::SystemVariable*>(&closing);
  }

  server::SystemVariable* make_switch(std::size_t i, const OptionInfo& info) {
    const bool is_on = info.default_number != 0;
    switches[i] = is_on;
    switch_variables[i] = {PLUGIN_VAR_BOOL,
                           info.name,
                           info.help,
                           nullptr,
                           info.option == Option::enabled ? switch_over : take_over_prefetch,
                           &switches[i],
                           is_on};
    return reinterpret_cast<server::SystemVariable*>(&switch_variables[i]);
  }

  server::SystemVariable* make_text(std::size_t i, const OptionInfo& info) {
    const bool is_live = info.type == OptionType::live_text;
    int flags = PLUGIN_VAR_STR | PLUGIN_VAR_MEMALLOC | (is_live ? 0 : PLUGIN_VAR_READONLY);
    if (info.type == OptionType::secret) flags |= PLUGIN_VAR_NOSYSVAR;
    text_variables[i] = {flags,
                         info.name,
                         info.help,
                         is_live ? check_account : nullptr,
                         is_live ? take_over_account : nullptr,
                         &texts[i],
                         info.default_text};
    return reinterpret_cast<server::SystemVariable*>(&text_variables[i]);
  }

  server::SystemVariable* make_number(std::size_t i, const OptionInfo& info) {
    const bool is_live = info.type == OptionType::live_number;
    const int flags = server::flags_of_number | (is_live ? 0 : PLUGIN_VAR_READONLY);
    number_variables[i] = {
        flags,       info.name,           info.help,  nullptr,   is_live ? take_over : nullptr,
        &numbers[i], info.default_number, info.least, info.most, 0};
    return reinterpret_cast<server::SystemVariable*>(&number_variables[i]);
  }
};

Variables& variables() {
  static Variables instance;
  return instance;
}

const char* option_name(const server::SystemVariable* variable) {
  const auto& list = variables().list;
  const auto place = std::find(list.begin(), list.end(), variable);
  return option_table.at(static_cast<std::size_t>(place - list.begin())).name;
}

}  // namespace

server::SystemVariable** system_variables() { return variables().list.data(); }

std::string_view text_option(Option option) {
  const char* text = variables().texts[static_cast<std::size_t>(option)];
  return text == nullptr ? std::string_view{} : text;
}

std::string live_text_option(Option option) {
  const std::lock_guard lock(texts_mutex);
  return std::string(text_option(option));
}

bool switch_option(Option option) { return variables().switches[static_cast<std::size_t>(option)]; }

std::uint64_t number_option(Option option) {
  return variables().numbers[static_cast<std::size_t>(option)];
}

void set_number_option(Option option, std::uint64_t number) {
  variables().numbers[static_cast<std::size_t>(option)] = number;
}

}  // namespace hs::mysqld
