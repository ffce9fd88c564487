// RequestWriter: writes requests as bytes, for clients.
//
// It writes lines into the caller's Buffer. It owns nothing and has no state of its own. The C++
// client, the load generator and tests use it, the server never does. It writes what Parser reads,
// in the shortest form, of what the original server also knows in one that it understands.
#pragma once

#include <cstdint>
#include <span>
#include <string_view>

#include "base/buffer.h"
#include "handlersocket/protocol/group.h"
#include "handlersocket/protocol/request.h"

namespace hs::handlersocket {

class RequestWriter {
 public:
  explicit RequestWriter(Buffer& out) : out_(out) {}

  // The names are sent unescaped. If one contains a byte that would end its token or the line (TAB,
  // LF, CR), nothing is written, and the result is false.
  [[nodiscard]] bool open_index(std::uint64_t index_id, const store::IndexNames& names);
  void find(std::uint64_t index_id, const store::Selection& selection);
  // Of a count, or of whether there is a row. A limit of store::no_limit is none.
  void count(std::uint64_t index_id, const store::Selection& selection, bool exists);
  void modify(std::uint64_t index_id, const store::Selection& selection,
              const store::Change& change);
  void insert(std::uint64_t index_id, const store::Insert& insert);
  void insert_rows(std::uint64_t index_id, const store::InsertRows& rows);
  void auth(const Auth& auth);
  void hello(const Hello& hello);
  void describe(std::uint64_t index_id);
  // The names are sent unescaped, as by open_index().
  [[nodiscard]] bool list(Listed listed, const store::IndexNames& names);
  void warnings();
  void echo(const Value& echoed);
  // The next `lines` requests are one group. meets() stands in front of a modification among them.
  void begin_group(std::uint64_t lines);
  void meets(Meets meets);

 private:
  void selection(std::uint64_t index_id, const store::Selection& selection, std::uint64_t limit,
                 bool has_change);
  void end(const store::End& end, std::string_view open, std::string_view closed);
  void filter(const store::Filter& filter);
  void assignments(std::span<const store::Assignment> assignments);
  void token(std::string_view bytes);
  void number(std::uint64_t number);
  void value(const Value& value);
  void end_line() { out_.push_back('\n'); }

  Buffer& out_;
};

}  // namespace hs::handlersocket
