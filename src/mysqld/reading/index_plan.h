// IndexPlan: an open index, compiled.
//
// It owns the names as the client gave them, and what they mean for one version of the table: the
// index, the columns, the reader of each column, and the read set. It also keeps what the server
// has said in a pass about the accounts that use it. It is used on one worker's thread and shared
// by its connections. When the table's definition changes, the names are resolved
// again, so an open index continues to work if its columns still exist.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "mysqld/accounts/privileges.h"
#include "mysqld/opening/open_tables.h"
#include "mysqld/reading/column_reader.h"
#include "store/operation.h"
#include "store/store.h"

struct TABLE;

namespace hs::mysqld {

// How the image of a text is made of its bytes, without a conversion.
enum class TextImage : std::uint8_t {
  by_field,  // only the field can make it
  bytes,     // VARBINARY: its length in two bytes, and any bytes
  ascii,     // VARCHAR: the same, of a text of ASCII alone
  filled,    // CHAR: a text of ASCII that does not end with a blank, and blanks behind it
};

struct PlannedKeyPart {
  std::uint8_t integer_bytes;  // of an image that is an integer, little-endian; 0: any other type
  TextImage text_image;
  std::uint32_t text_room;  // so many bytes a value may have that becomes a TextImage
  bool is_unsigned;
  bool is_nullable;
  bool is_string;  // text or bytes that have no format, see server::is_plain_string()
  bool is_prefix;  // the index holds only the beginning of the column's values
  bool descends;
  BlankOrder blanks;
  std::uint32_t store_length;  // bytes of the image, including the byte for NULL

  // Whether the index tells values apart, or orders them, in another way than the collation.
  bool is_compared() const { return is_prefix || blanks == BlankOrder::filled; }
};

// A column that filters may name.
struct PlannedFilterColumn {
  std::uint16_t number;
  bool is_text;   // SQL compares it with a string as text or bytes
  bool in_index;  // whole values of it are in the index
};

// What one account may do with a plan, as the server has said in one pass. Clients that have logged
// in share one.
struct PlanPermissions : Permissions {
  std::uint64_t asked_in = 0;            // counted by the store
  std::uint64_t rights = 0;              // of the account
  unsigned long long table_version = 0;  // the plan's at that time
  // counted in the same way: when the audit trail was told that an account uses the table
  std::array<std::uint64_t, purposes> told_in{};
  std::uint64_t told_of = 0;  // that account's number
};

class IndexPlan final : public store::Index {
 public:
  // Limits what one P may cost in memory, however large the table's definition is.
  static constexpr std::size_t max_columns = 4096;

  // `keeps_positions`: long finds use this plan, and they may be parked.
  IndexPlan(const store::IndexNames& names, std::shared_ptr<TableSlot> slot, TextEncoding encoding,
            bool keeps_positions);
  ~IndexPlan() override;

  TableSlot& slot() const { return *slot_; }

  std::uint64_t version() const override { return table_version_; }
  std::shared_ptr<const store::IndexShape> shape() const override { return shape_; }

  // Resolves the names for this table, unless that was done for its version already.
  Status resolve(TABLE& table);

  // The names about which the server is asked. Those of the key are of the resolved version.
  AskedNames asked_names() const {
    return {slot_->database, slot_->name, column_names_, filter_names_, key_names_};
  }
  unsigned long long table_version() const { return table_version_; }

  // How often requests have used it.
  void note_request() { ++requests_; }
  std::uint64_t requests() const { return requests_; }
  PlanPermissions& permissions(Account::Role role) {
    return permissions_[static_cast<std::size_t>(role)];
  }

  // Sets up the columns and the index on a table that is open for reading.
  Status set_up_reader(OpenTable& opened) {
    if (opened.plan == this && opened.setup == reading) [[likely]]
      return {};
    return set_up(opened, to_read_, reading);
  }
  // The same for a count, which needs only the columns of the filters. If those that it has are in
  // the index, no others are read.
  Status set_up_counter(OpenTable& opened, std::span<const store::Filter> filters);
  // Makes the engine read the columns of the index with each row, for a search that compares them.
  // Plans of most indexes do not read them otherwise. Returns 0 or the engine's error. Must not be
  // called during a scan.
  int read_key_columns(OpenTable& opened) const;
  // Called before a plan is used on a writer: undoes what a reader has set up.
  static void take_down(OpenTable& opened);

  std::uint32_t index() const { return index_; }
  const std::vector<store::Column>& columns() const { return columns_; }
  const std::vector<PlannedKeyPart>& key() const { return key_; }
  std::uint32_t column_count() const override {
    return static_cast<std::uint32_t>(columns_.size());
  }
  const std::vector<PlannedFilterColumn>& filter_columns() const { return filter_columns_; }
  std::uint32_t key_parts() const override { return key_parts_; }
  bool has_prefix_parts() const { return has_prefix_parts_; }
  bool is_ordered() const { return is_ordered_; }
  // Whether the engine finds just the rows that are selected. If not, the answer is 131.
  bool can_search(const store::Selection& selection) const {
    return !is_limited_ || can_search_limited(selection);
  }
  // Whether the first part is in descending order.
  bool descends() const { return key_[0].descends; }
  TextEncoding encoding() const { return encoding_; }

  // Whether `parts` key values select one row at most.
  bool is_unique(std::uint32_t parts) const { return is_unique_ && parts == key_parts_; }

  // So many key parts identify a row and lead to the next one. They may include parts of the
  // primary key that the server adds to the index. 0: a find by this index cannot be parked.
  std::uint32_t position_parts() const { return position_parts_; }
  std::uint32_t position_length() const { return position_length_; }
  // What the bytes of a position mean. After ALTER TABLE their meaning may be different.
  const std::string& position_shape() const { return position_shape_; }

  // Adds every column that a request of this plan reads to the table's read set.
  void mark_read_columns(TABLE& table) const { mark_columns(table, columns_, Filters::all); }

 private:
  Status resolve_index(TABLE& table);
  bool can_search_limited(const store::Selection& selection) const;
  Status resolve_columns(TABLE& table);
  void choose_access(TABLE& table);
  void choose_position(TABLE& table);
  // Which columns a kind of request reads.
  struct Reading {
    std::vector<std::uint16_t> columns;  // and those from which virtual columns are computed
    bool covering = false;               // the index alone holds them
  };
  // Their numbers in OpenTable::setup. A writer's set-ups are between them.
  static constexpr std::uint32_t reading = 0;
  static constexpr std::uint32_t counting = ~std::uint32_t{0};
  static constexpr std::uint32_t counting_by_index = counting - 1;

  // Which columns of filters are read.
  enum class Filters : std::uint8_t { all, of_index };

  void mark_columns(TABLE& table, std::span<const store::Column> columns, Filters filters) const;
  void choose_reading(TABLE& table, std::span<const store::Column> columns, Filters filters,
                      Reading& choice) const;
  Status set_up(OpenTable& opened, const Reading& choice, std::uint32_t number);

  std::shared_ptr<const store::IndexShape> shape_of(TABLE& table) const;

  std::string index_name_;
  const bool every_column_;
  std::vector<std::string> column_names_;  // with every column: of the resolved version
  std::vector<std::string> filter_names_;
  std::shared_ptr<TableSlot> slot_;
  TextEncoding encoding_;
  bool keeps_positions_;
  std::uint64_t requests_ = 0;

  // the version of the table for which the members below are true
  unsigned long long table_version_ = 0;
  std::uint32_t index_ = 0;
  std::uint32_t key_parts_ = 0;
  bool is_unique_ = false;
  bool is_ordered_ = true;
  bool is_remote_ = false;   // of a table on another server
  bool is_limited_ = false;  // there is something that can_search() refuses
  bool has_prefix_parts_ = false;
  bool has_compared_parts_ = false;
  std::vector<store::Column> columns_;
  std::vector<PlannedKeyPart> key_;
  std::vector<std::vector<std::string>> key_names_;  // of each part
  std::vector<PlannedFilterColumn> filter_columns_;
  std::uint32_t position_parts_ = 0;
  std::uint32_t position_length_ = 0;
  std::string position_shape_;
  std::array<PlanPermissions, Account::roles> permissions_;
  std::shared_ptr<const store::IndexShape> shape_;
  Reading to_read_;
  Reading to_count_;
  Reading to_count_by_index_;
};

}  // namespace hs::mysqld
