// ReplyWriter: writes replies as bytes.
//
// It writes straight into the caller's Buffer. It owns nothing and has no state of its own, so it
// costs nothing to make one. A reply is
//
//   reply = code TAB columns *(TAB value) LF
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/buffer.h"
#include "base/status.h"
#include "store/operation.h"
#include "store/table_description.h"

namespace hs::handlersocket {

class ReplyWriter {
 public:
  explicit ReplyWriter(Buffer& out) : out_(out) {}

  // Complete replies.
  void ok() { out_.append("0\t1\n"); }
  void ok(std::uint64_t count);
  void inserted(std::uint64_t id, bool is_negative);  // `id` without its sign
  void echo(const store::Value& echoed);
  void error(Status status);
  // The first reply to a group that was undone, because its line of this number has failed.
  void undone(std::uint64_t line);
  // The same for clients that want texts. What is empty in `said`, which is the server's for this
  // error, has the words of its kind.
  void error_with_text(Status status, const store::Said& said);
  void undone_with_text(std::uint64_t line);
  // One row of the reply that describes an index. Null: nothing is known of the column but its name. An
  // expression has no name.
  static constexpr std::uint32_t description_columns = 7;
  void described_column(std::string_view kind, std::string_view name,
                        const store::DescribedColumn* column);
  // One row of the reply that lists databases or tables, and of the one that lists indexes, which has a row
  // for each part.
  void listed_name(std::string_view name);
  static constexpr std::uint32_t index_part_columns = 6;
  void index_part(const store::DescribedIndex& index, const store::DescribedPart& part);
  // One row of the reply that tells of warnings.
  static constexpr std::uint32_t warning_columns = 3;
  void warning(const store::Warning& warning);
  // One row of the reply to hello.
  void greeting(std::string_view name, std::string_view value);
  // One row of the reply to an insert of several rows.
  void inserted_row(std::string_view fate, const std::optional<store::InsertId>& id);

  // A reply of rows begins and ends with these. The rows between them are ReplyRows'.
  void begin_rows(std::uint32_t columns) {
    if (columns > 9) [[unlikely]]
      return begin_wide_rows(columns);
    char* to = out_.reserve(3);
    to[0] = '0';
    to[1] = '\t';
    to[2] = static_cast<char>('0' + columns);
    out_.advance(3);
  }
  void end_rows() { out_.push_back('\n'); }

 private:
  void begin_wide_rows(std::uint32_t columns);
  void explained(Status status, char columns, const store::Said& said);
  void text(std::string_view value);
  void flag(bool is_set);
  void null();

  Buffer& out_;
};

}  // namespace hs::handlersocket
