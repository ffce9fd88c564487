// ReplyRows: writes rows as HandlerSocket sends them, a TAB before each value.
//
// It has no state, so a request makes its own for nothing. The head of the reply and its end are
// ReplyWriter's.
#pragma once

#include <span>

#include "base/buffer.h"
#include "store/rows.h"

namespace hs::handlersocket {

class ReplyRows final : public store::Rows {
 public:
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override;
};

}  // namespace hs::handlersocket
