// WholeReply: the sink of a command whose reply is not sent in pieces.
//
// It never parks a find: what was written of a reply before it would be lost. It lives as long as the
// request on a streamer's thread.
#pragma once

#include <cassert>

#include "store/store.h"

namespace hs::redis {

class WholeReply final : public store::Sink {
 public:
  explicit WholeReply(store::Sink& sink) : sink_(sink) {}
  Flushed flush(Buffer& /*out*/, bool /*can_park*/) override {
    assert(false);  // no row of a command is sent in pieces
    return Flushed::ended;
  }
  bool must_give_way() override { return false; }
  bool must_end() override { return sink_.must_end(); }

 private:
  store::Sink& sink_;
};

}  // namespace hs::redis
