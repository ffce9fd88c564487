// DatabaseList: which databases clients may use at all, whatever their accounts may do.
//
// A value, made from handlersocket_databases when a port opens.
#pragma once

#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace hs::mysqld {

class DatabaseList {
 public:
  // Names with commas between them. A `-` before a name excludes that database. A `*` at the end of
  // a name stands for any rest. Null if a name is empty.
  static std::optional<DatabaseList> parse(std::string_view text);

  // `database` as the server has it. If the list names databases without a `-`, those are allowed
  // and no others.
  bool allows(std::string_view database) const;

 private:
  std::vector<std::string> allowed_;  // empty: all
  std::vector<std::string> excluded_;
};

}  // namespace hs::mysqld
