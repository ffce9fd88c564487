// LineProtocol: a second protocol, which shows that a pass needs to know none.
//
// It serves one table as keys and values. It has what HandlerSocket does not have: a write without a
// reply, a length in front of a value, and a request that takes two operations of the store.
//
//   get KEY            VALUE <length> <value>, or NONE
//   scan KEY LIMIT     a VALUE line for each row from the key on, then END
//   set KEY VALUE      STORED
//   quiet KEY VALUE    nothing
//   swap KEY OTHER     SWAPPED, or NONE: exchanges the values of two rows, all or nothing. The second
//                      one is in another table.
//
// A request that fails is answered with ERROR and a number, a quiet one, too. For tests only; used as
// any protocol is.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "passes/dialogue.h"

namespace hs::passes {

class LineProtocol final : public Protocol {
 public:
  // The names have the columns of the value and of the key, in this order.
  explicit LineProtocol(store::IndexNames names, store::IndexNames others = {})
      : names_(names), others_(others) {}

  const store::IndexNames& names() const { return names_; }
  const store::IndexNames& others() const { return others_; }

  std::unique_ptr<Dialogue> open_dialogue() override;
  bool writes() const override { return true; }
  std::size_t whole_requests(std::string_view input) const override {
    return input.rfind('\n') + 1;
  }
  void append_error(Status status, Buffer& out) const override;
  void refuse(net::Refusal why, Buffer& out) const override;
  // No request changes its dialogue.
  void keep_changes() override {}
  void undo_changes() override {}
  void give_back() override {}

 private:
  const store::IndexNames names_;
  const store::IndexNames others_;  // of the other table of a `swap`
};

}  // namespace hs::passes
