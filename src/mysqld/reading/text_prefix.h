// TextPrefix: texts that begin as the request says, as SQL's LIKE 'abc%' finds them.
//
// The collation decides which texts these are, and between which places of an index they all are.
// Texts that do not begin so may be there, too, so each row is also compared. It owns the pattern
// in the column's character set. Each worker has one, on its own thread, and uses it again for each
// request.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>

#include "base/give_back.h"
#include "mysqld/reading/key_search.h"
#include "store/operation.h"

class Field;

namespace hs::mysqld {

class TextPrefix {
 public:
  // The places of an index between which all texts are that begin so, by the order of their values.
  enum class Edge : std::uint8_t { least, greatest };

  // Key part `part` begins with the value. False if it is no text or bytes: then nothing else may be
  // called.
  bool prepare(const IndexPlan& plan, TABLE& table, std::uint32_t part, const store::Value& value);
  // `search` is one for the key parts before that one, from a place onwards. It begins at the edge
  // then, if the index leads there.
  void narrow(KeySearch& search, Edge edge) const;
  // How many bytes each row is compared with.
  std::size_t bytes() const { return pattern_.size(); }
  // Whether the row in the record begins so.
  bool matches() const;

  // The request is over: frees its memory if that is large.
  void give_back() { hs::give_back(pattern_, max_kept_bytes); }

 private:
  static constexpr std::size_t max_kept_bytes = std::size_t{64} << 10;

  const IndexPlan* plan_ = nullptr;
  const TABLE* table_ = nullptr;
  std::uint32_t part_ = 0;
  bool is_nothing_ = false;  // no text begins so: NULL, or not in the column's character set
  std::string pattern_;
};

}  // namespace hs::mysqld
