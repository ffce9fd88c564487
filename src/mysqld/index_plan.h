// IndexPlan: an index opened by `P`, compiled.
//
// Owns the names as the client gave them and what they mean for one version of
// the table: which index, which columns, how each is formatted, which bits of
// the read set. Used on one worker's thread, shared by its connections. When the
// table's definition changes the names are resolved anew, so an open index goes
// on working where its columns still exist.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "mysqld/column_format.h"
#include "mysqld/open_tables.h"
#include "protocol/request.h"
#include "store/store.h"

struct TABLE;

namespace hs::mysqld {

struct PlannedColumn {
  std::uint16_t field;  // number in the table
  ColumnFormat format;
};

// A key part whose image is an integer of so many bytes, little-endian.
struct PlannedKeyPart {
  std::uint8_t integer_bytes;  // 0: any other type
  bool is_unsigned;
  bool is_nullable;
  std::uint32_t store_length;  // bytes of the image, that of NULL included
};

class IndexPlan final : public store::Index {
 public:
  // Bounds what one P may cost in memory, whatever the table looks like.
  static constexpr std::size_t max_columns = 4096;

  IndexPlan(const protocol::OpenIndex& request, std::shared_ptr<TableSlot> slot,
            TextEncoding encoding);
  ~IndexPlan() override;

  TableSlot& slot() const { return *slot_; }

  // Resolves the names against this table unless that was done for its version.
  Status resolve(TABLE& table);

  // Sets the columns and the index up on a table that is open for reading.
  Status set_up_reader(OpenTable& opened) {
    if (opened.plan == this && opened.setup == 0) [[likely]]
      return {};
    return set_up_reader_slow(opened);
  }
  // Called before a plan is used on a writer: undoes what a reader had set up.
  static void take_down(OpenTable& opened);

  std::uint32_t index() const { return index_; }
  const std::vector<PlannedColumn>& columns() const { return columns_; }
  const std::vector<PlannedKeyPart>& key() const { return key_; }
  std::uint32_t column_count() const { return static_cast<std::uint32_t>(columns_.size()); }
  const std::vector<std::uint16_t>& filter_columns() const { return filter_columns_; }
  std::uint32_t key_parts() const override { return key_parts_; }
  bool has_prefix_parts() const { return has_prefix_parts_; }
  bool is_ordered() const { return is_ordered_; }
  // Whether the first part is in descending order.
  bool descends() const { return descends_; }
  TextEncoding encoding() const { return encoding_; }

  // Whether `parts` key values name one row at the most.
  bool is_unique(std::uint32_t parts) const { return is_unique_ && parts == key_parts_; }

  // Adds every column that a request of this plan reads to the table's read set.
  void mark_read_columns(TABLE& table) const;

 private:
  Status resolve_index(TABLE& table);
  Status resolve_columns(TABLE& table);
  void choose_access(TABLE& table);
  Status set_up_reader_slow(OpenTable& opened);

  std::string index_name_;
  std::vector<std::string> column_names_;
  std::vector<std::string> filter_names_;
  std::shared_ptr<TableSlot> slot_;
  TextEncoding encoding_;

  unsigned long long table_version_ = 0;  // of the table that the rest is true for
  std::uint32_t index_ = 0;
  std::uint32_t key_parts_ = 0;
  bool is_unique_ = false;
  bool is_ordered_ = true;
  bool descends_ = false;
  bool has_prefix_parts_ = false;
  bool covering_ = false;
  std::vector<PlannedColumn> columns_;
  std::vector<PlannedKeyPart> key_;
  std::vector<std::uint16_t> filter_columns_;
  std::vector<std::uint16_t>
      read_columns_;  // all of them, those that virtual columns need included
};

}  // namespace hs::mysqld
