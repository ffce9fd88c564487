// RowCodec: writes rows as HandlerSocket sends them, a TAB before each value.
//
// It has no state, and all threads share it. The head of the reply and its end are ReplyWriter's.
#pragma once

#include <span>

#include "base/buffer.h"
#include "store/row_codec.h"

namespace hs::protocol {

class RowCodec final : public store::RowCodec {
 public:
  bool append_row(std::span<const store::Column> columns, const store::CurrentRow& row,
                  Buffer& out) const override;
};

inline constexpr RowCodec row_codec;

}  // namespace hs::protocol
