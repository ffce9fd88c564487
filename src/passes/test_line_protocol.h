// LineProtocol: a second protocol, which shows that a pass needs to know none.
//
// It serves one table as keys and values. It has what HandlerSocket does not have: a write without a
// reply, a length in front of a value, and a request that takes two operations of the store and two
// indexes.
//
//   get KEY            VALUE <length> <value>, or NONE
//   scan KEY LIMIT     a VALUE line for each row from the key on, then END
//   set KEY VALUE      STORED
//   quiet KEY VALUE    nothing
//   assign KEY WORDS   the row as it was, and as it is afterwards, or NONE: changes a row of a third
//                      table, in the words of passes/test_assign_words.h
//   swap KEY OTHER     SWAPPED, or NONE: exchanges the values of two rows, all or nothing. The second
//                      one is in another table.
//   range ...          a VALUE line for each row, then END: see test_line_range.h. It has an index of
//                      its own.
//   count ...          COUNT and the number of rows of that range
//
// A request that fails is answered with ERROR and a number, a quiet one, too. For tests only; used as
// any protocol is.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "passes/dialogue.h"

namespace hs::passes {

class LineProtocol final : public Protocol {
 public:
  // The names have the columns of the value and of the key, in this order. `others` are those of the
  // other table of a `swap`, `ranges` the index of a `range`, and `assigned` those of the table of
  // `assign`, with any columns.
  explicit LineProtocol(const store::IndexNames& names, const store::IndexNames& others = {},
                        const store::IndexNames& ranges = {},
                        const store::IndexNames& assigned = {});

  // By the first one values are found and changed, by the second one rows are inserted, the third one
  // belongs to the other table, the fourth one is for ranges, and the last one for `assign`.
  static constexpr std::size_t index_count = 5;
  // What a request needs.
  enum class Needs : std::uint8_t { rows, both_tables, range, assign };
  std::span<const NeededIndex> indexes(Needs needs) const {
    const std::span all(indexes_);
    switch (needs) {
      case Needs::rows: return all.first(2);
      case Needs::both_tables: return all.first(3);
      case Needs::range: return all.subspan(3, 1);
      case Needs::assign: return all.subspan(4, 1);
    }
    return {};
  }
  // Those of all uses that belong to the needed indexes.
  std::span<store::IndexUse> uses(std::span<store::IndexUse> all,
                                  std::span<const NeededIndex> needed) const {
    return all.subspan(static_cast<std::size_t>(needed.data() - indexes_.data()), needed.size());
  }

  std::unique_ptr<Dialogue> open_dialogue() override;
  bool writes() const override { return true; }
  void give_back() override {}

 private:
  std::array<NeededIndex, index_count> indexes_;
};

}  // namespace hs::passes
