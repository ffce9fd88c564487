// FoundPage: the rows that one HS.FIND answers, while they are found.
//
// FoundRows writes them, PageSink takes them from a find that is executed beside the workers, and
// PagePosition keeps what was found of a page whose find is parked for the sake of others. All live for one
// request, on the thread that executes it; a PagePosition waits with its connection.
#pragma once

#include <cstddef>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/buffer.h"
#include "redis/protocol/reply.h"
#include "redis/session/row_replies.h"
#include "store/store.h"

namespace hs::redis {

// Beside the workers, a page ends when its rows have so many bytes, if a later one can go on from there.
inline constexpr std::size_t most_page_bytes = std::size_t{1} << 20;

// Each row is a map of its columns. One that is NULL is nil.
class FoundRows final : public store::Rows {
 public:
  enum class Kept : bool { whole, in_pieces };
  FoundRows(Resp resp, Kept kept)
      : Rows(kept == Kept::whole ? most_reply_bytes : no_bound), resp_(resp) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t in_number, Buffer& out) override;

  std::size_t rows = 0;

 private:
  const Resp resp_;
};

// Where a page was left whose find is parked.
class PagePosition final : public store::Position {
 public:
  PagePosition(std::unique_ptr<store::Position> of_find, std::string_view found, std::size_t count)
      : find(std::move(of_find)), bytes_found(found), rows(count) {
    reply_begun = false;
  }

  std::unique_ptr<store::Position> find;
  std::string bytes_found;  // the rows, as they are written
  std::size_t rows;
};

class PageSink final : public store::Sink {
 public:
  explicit PageSink(store::Sink& sink) : sink_(sink) {}
  Flushed flush(Buffer& out, bool can_park) override;
  bool must_give_way() override { return sink_.must_give_way(); }
  bool must_end() override {
    has_ended_ = has_ended_ || sink_.must_end();
    return has_ended_;
  }

  // Goes on with what was found before, if there is something.
  void go_on(PagePosition& from);
  Buffer& rows() { return rows_; }
  // Whether the page has as many bytes as it may have, so that its find was left.
  bool is_full() const { return is_full_; }
  // How a find has ended that gave less than all of its rows.
  Status ended() const {
    if (is_too_large_) return Error::too_large;
    return has_ended_ ? Status(Error::killed) : Status{};
  }

 private:
  store::Sink& sink_;
  Buffer rows_;
  bool is_full_ = false;
  bool is_too_large_ = false;
  bool has_ended_ = false;
};

}  // namespace hs::redis
