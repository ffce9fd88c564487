#include "mysqld/plugin/system_variables.h"

#include <array>

#include "mysqld/server/api.h"

namespace hs::mysqld {
namespace {

// The layout of a variable as the server's macros make it: a header, a pointer to the value, the
// default and, for a number, its bounds and block size.
struct TextVariable {
  MYSQL_PLUGIN_VAR_HEADER;
  char** value;
  const char* default_value;
};

struct NumberVariable {
  MYSQL_PLUGIN_VAR_HEADER;
  unsigned long long* value;
  unsigned long long default_value;
  unsigned long long least;
  unsigned long long most;
  unsigned long long block_size;
};

struct Variables {
  std::array<char*, option_count> texts{};
  std::array<unsigned long long, option_count> numbers{};
  std::array<TextVariable, option_count> text_variables{};
  std::array<NumberVariable, option_count> number_variables{};
  std::array<server::SystemVariable*, option_count + 1> list{};

  Variables() {
    for (std::size_t i = 0; i < option_count; ++i) {
      const OptionInfo& info = option_table[i];
      const bool is_number = info.type == OptionType::number || info.type == OptionType::ignored;
      list[i] = is_number ? make_number(i, info) : make_text(i, info);
    }
  }

  server::SystemVariable* make_text(std::size_t i, const OptionInfo& info) {
    int flags = PLUGIN_VAR_STR | PLUGIN_VAR_READONLY | PLUGIN_VAR_MEMALLOC;
    if (info.type == OptionType::secret) flags |= PLUGIN_VAR_NOSYSVAR;
    text_variables[i] = {flags,   info.name, info.help,        nullptr,
                         nullptr, &texts[i], info.default_text};
    return reinterpret_cast<server::SystemVariable*>(&text_variables[i]);
  }

  server::SystemVariable* make_number(std::size_t i, const OptionInfo& info) {
    constexpr int flags = PLUGIN_VAR_LONGLONG | PLUGIN_VAR_UNSIGNED | PLUGIN_VAR_READONLY;
    number_variables[i] = {flags,       info.name,           info.help,  nullptr,   nullptr,
                           &numbers[i], info.default_number, info.least, info.most, 0};
    return reinterpret_cast<server::SystemVariable*>(&number_variables[i]);
  }
};

Variables& variables() {
  static Variables instance;
  return instance;
}

}  // namespace

server::SystemVariable** system_variables() { return variables().list.data(); }

std::string_view text_option(Option option) {
  const char* text = variables().texts[static_cast<std::size_t>(option)];
  return text == nullptr ? std::string_view{} : text;
}

std::uint64_t number_option(Option option) {
  return variables().numbers[static_cast<std::size_t>(option)];
}

void set_number_option(Option option, std::uint64_t number) {
  variables().numbers[static_cast<std::size_t>(option)] = number;
}

}  // namespace hs::mysqld
