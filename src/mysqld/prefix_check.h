// PrefixCheck: compares whole values where the index holds only their beginning.
//
// An index on s(3) finds every row that begins alike; a find wants those whose
// whole column compares as asked. Owns copies of the asked values. One a worker;
// does nothing for plans without prefix parts.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "mysqld/key_search.h"
#include "mysqld/server/types.h"

namespace hs::mysqld {

class PrefixCheck {
 public:
  // After make_key_search with the same arguments.
  void prepare(const IndexPlan& plan, TABLE& table, std::span<const protocol::Value> key,
               const protocol::Value* in_value, std::uint32_t in_part, const KeySearch& search);

  // Whether the row that stands in the record is asked for.
  bool matches(const KeySearch& search) const {
    if (parts_.empty()) [[likely]]
      return true;
    return compare_row(search);
  }
  // What the engine has to be asked so that no row is missed.
  protocol::Comparison widened(protocol::Comparison comparison) const;

 private:
  struct Part {
    const server::KeyPart* info;
    bool is_prefix;
    bool null;
    std::uint32_t image;  // offset in the key image
    std::string value;    // in the column's character set
  };

  bool compare_row(const KeySearch& search) const;
  static int compare_part(const Part& part, const TABLE& table, const unsigned char* image);

  const TABLE* table_ = nullptr;
  std::vector<Part> parts_;
};

}  // namespace hs::mysqld
