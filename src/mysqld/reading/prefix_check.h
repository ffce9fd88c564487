// PrefixCheck: compares whole values where an index holds only their beginning.
//
// An index on s(3) finds every row whose value begins with the same three characters, but a find
// wants the rows whose whole column compares as asked. The same holds for text that is longer than
// its column: in an index of CHAR(1) only its first character is searched. It owns copies of the
// values in the request. Each worker has one. It does nothing if the rows of a search need no
// comparison.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "base/give_back.h"
#include "mysqld/reading/key_search.h"
#include "mysqld/server/types.h"

namespace hs::mysqld {

class PrefixCheck {
 public:
  // Called after make_key_search with the same arguments.
  void prepare(const IndexPlan& plan, TABLE& table, std::span<const store::Value> key,
               const store::Value* in_value, std::uint32_t in_part, const KeySearch& search);

  // Whether the row in the record is asked for.
  bool matches(const KeySearch& search) const {
    if (!search.compared) [[likely]]
      return true;
    return compare_row(search);
  }
  // How many bytes each row is compared with.
  std::size_t bytes(const KeySearch& search) const {
    return search.compared && !search.nothing ? texts_.size() : 0;
  }
  // The request is over: frees its memory if that is large.
  void give_back() { hs::give_back(texts_, max_kept_bytes); }

 private:
  static constexpr std::size_t max_kept_bytes = std::size_t{64} << 10;

  struct Part {
    const server::KeyPart* info;
    PartFit fit;
    bool null;
    bool descends;
    std::uint32_t image;  // offset in the key image
    std::size_t text;     // of a prefix: where the value in the request begins in texts_
    std::size_t text_size;
  };

  bool compare_row(const KeySearch& search) const;
  int compare_part(const Part& part, const unsigned char* image) const;

  const TABLE* table_ = nullptr;
  std::vector<Part> parts_;
  std::string texts_;  // in the columns' character sets
};

}  // namespace hs::mysqld
