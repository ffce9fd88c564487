#include "mysqld/accounts/database_list.h"

#include <algorithm>

#include "mysqld/server/table_opening.h"

namespace hs::mysqld {
namespace {

std::string_view trimmed(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(' ');
  if (begin == std::string_view::npos) return {};
  return text.substr(begin, text.find_last_not_of(' ') + 1 - begin);
}

bool is_one_of(const std::vector<std::string>& patterns, std::string_view name) {
  return std::ranges::any_of(patterns, [name](std::string_view pattern) {
    return pattern.ends_with('*') ? name.starts_with(pattern.substr(0, pattern.size() - 1))
                                  : name == pattern;
  });
}

}  // namespace

std::optional<DatabaseList> DatabaseList::parse(std::string_view text) {
  DatabaseList list;
  while (!trimmed(text).empty()) {
    const std::size_t comma = std::min(text.find(','), text.size());
    std::string_view name = trimmed(text.substr(0, comma));
    const bool excludes = name.starts_with('-');
    if (excludes) name = trimmed(name.substr(1));
    if (name.empty()) return std::nullopt;
    (excludes ? list.excluded_ : list.allowed_).push_back(server::stored_name(name));
    text.remove_prefix(std::min(comma + 1, text.size()));
  }
  return list;
}

bool DatabaseList::allows(std::string_view database) const {
  return (allowed_.empty() || is_one_of(allowed_, database)) && !is_one_of(excluded_, database);
}

}  // namespace hs::mysqld
