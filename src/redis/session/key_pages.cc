#include "redis/session/key_pages.h"

#include <algorithm>
#include <span>
#include <utility>

#include "keys/items.h"
#include "redis/session/row_replies.h"
#include "redis/session/scan_options.h"

namespace hs::redis {
namespace {

using store::Outcome;
using store::Value;

// To compare so many bytes takes a few milliseconds.
constexpr std::uint64_t most_effort = 2'000'000;

// The keys of rows, as the store shows their values. The columns of the key are the last ones.
class KeyRows final : public store::Rows {
 public:
  KeyRows(const RowAccess& access, std::int64_t now_ms)
      : Rows(most_reply_bytes), access_(access), now_ms_(now_ms) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    char room[store::Column::room];
    const bool is_item = access_.container != nullptr;
    has_key.push_back(!is_item || keys::read_head(access_.item, columns, row, now_ms_).is_live);
    ScanKey& key = keys.emplace_back();
    for (const store::Column& column : columns.last(access_.shape->key.size())) {
      const store::ColumnValue value = column.value(row, room);
      if (value.kind == store::ColumnValue::Kind::no_memory) return false;
      if (value.kind == store::ColumnValue::Kind::null) {
        key.emplace_back();
        has_key.back() = false;
      } else {
        key.emplace_back(std::in_place, value.data, value.size);
      }
    }
    return true;
  }

  std::vector<ScanKey> keys;
  std::vector<bool> has_key;  // an item that has expired is not there, and NULL cannot be written

 private:
  const RowAccess& access_;
  const std::int64_t now_ms_;
};

// Values with NULLs, and behind the first ones.
std::vector<Value> values_of(const ScanKey& key, std::size_t first) {
  std::vector<Value> values;
  for (std::size_t i = first; i < key.size(); ++i)
    values.push_back(key[i] ? Value{*key[i]} : Value{{}, true});
  return values;
}

// A character of UTF-8 that is cut at the end is no text for the store.
void drop_cut_character(std::string& text) {
  for (std::size_t behind = 1; behind <= std::min<std::size_t>(text.size(), 4); ++behind) {
    const auto byte = static_cast<unsigned char>(text[text.size() - behind]);
    if (byte < 0x80) return;
    if (byte < 0xc0) continue;
    const std::size_t bytes = byte >= 0xf0 ? 4 : byte >= 0xe0 ? 3 : 2;
    if (bytes > behind) text.resize(text.size() - behind);
    return;
  }
}

// The bytes of an escape that is cut at the end stand for nothing yet.
void drop_cut_escape(std::string_view& text) {
  const std::size_t percent = text.rfind('%');
  if (percent != std::string_view::npos && text.size() - percent < 3)
    text = text.substr(0, percent);
}

bool is_text(const store::ShapedColumn& column) { return column.spelling == store::Spelling::text; }

}  // namespace

Status KeyPages::read_pattern(Work& work, std::string_view pattern) {
  if (const Status status = check_pattern(work, pattern); !status.ok()) return status;
  parts_ = Glob(pattern);
  std::string name;
  Glob parts = parts_;
  if (parts.take_literal_until(':', name)) {
    const std::shared_ptr<const keys::Container> named = work.containers.find(name);
    const bool is_row = keys::has_database_or_index(name);
    if (named != work.containers.by_default()) container_ = named.get();
    if (container_ != nullptr || is_row || work.containers.by_default() == nullptr) {
      parts_ = std::move(parts);
      name_ = name + ':';
      return {};
    }
  }
  container_ = work.containers.by_default().get();
  if (container_ != nullptr) return {};
  return say(work,
             "ERR pattern has to begin with the name of a table and a colon, as in "
             "db.table:*, see docs/redis.md");
}

KeyPages::Front KeyPages::front_of(const store::IndexShape& shape) const {
  Front front;
  const std::string text = parts_.literal_front();
  std::string_view left = text;
  const auto fix = [&](std::string value) {
    const store::ShapedColumn& column = shape.columns[shape.key[front.fixed.size()]];
    if (!keys::is_one_spelling(value, column)) front.is_nothing = true;
    front.fixed.push_back(std::move(value));
  };
  while (front.fixed.size() + 1 < shape.key.size()) {
    const std::size_t colon = left.find(':');
    std::string value;
    if (colon == std::string_view::npos) {
      if (parts_.is_literal()) front.is_nothing = true;
      drop_cut_escape(left);
      if (!keys::unescape(left, front.prefix)) front.is_nothing = true;
      return front;
    }
    if (!keys::unescape(left.substr(0, colon), value)) front.is_nothing = true;
    fix(std::move(value));
    left.remove_prefix(colon + 1);
  }
  if (parts_.is_literal()) {
    fix(std::string(left));
  } else {
    front.prefix = left;
  }
  return front;
}

// Whether a client that sends the key means by it the row with these values. It may be another container's key, or
// a row's. Some columns do not show all that they hold: there the row is looked for.
Outcome KeyPages::look_for_key(Work& work, const KeyedRow& row, std::string_view key,
                               const ScanKey& values, bool& names_row) const {
  names_row = false;
  const keys::ItemKey item = work.containers.resolve(key);
  if (item.container != container_) return {};
  const std::string_view parts = container_ != nullptr ? item.key : keys::split_key(key).parts;
  const store::IndexShape& shape = *row.access->shape;
  const keys::KeyMistake mistake =
      keys::read_parts(parts, shape, work.scratch.key, work.scratch.parts);
  names_row = mistake == keys::KeyMistake::none;
  const bool shows_all = std::ranges::none_of(shape.key, [&](std::uint32_t part) {
    return shape.columns[part].spelling == store::Spelling::other;
  });
  if (!names_row || shows_all) return {};
  KeyRows met(*row.access, work.clock.now_ms());
  store::Found found;
  const Outcome outcome =
      work.store.find(*row.use, row.selection(work), met, work.out(), nullptr, found);
  names_row = !met.keys.empty() && met.keys[0] == values;
  return outcome;
}

Outcome KeyPages::read(Work& work, store::Sink* sink, const ScanKey* from, std::size_t rows,
                       Page& page) {
  const auto open = [&](std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                        KeyedRow& row) {
    if (container_ != nullptr)
      return keys::open_container(work, *container_, Asks::item, access, own, row);
    return keys::open_named(work, name_, Asks::key, {}, access, own, row);
  };
  return keys::with_opened(work, false, open, [&](const KeyedRow& row) {
    page = {};
    return read_page(work, sink, row, from, rows, page);
  });
}

Outcome KeyPages::read_page(Work& work, store::Sink* sink, const KeyedRow& row, const ScanKey* from,
                            std::size_t rows, Page& page) {
  const store::IndexShape& shape = *row.access->shape;
  const std::size_t parts = shape.key.size();
  Front front = front_of(shape);
  const std::size_t fixed = front.fixed.size();
  page.is_last = true;
  // Perhaps by what the table was.
  if (front.is_nothing) return keys::check_current(work, row, work.caller);
  std::vector<Value> key;
  for (const std::string& value : front.fixed) key.push_back({value});
  const bool is_range = fixed < parts;
  if (is_range && !is_text(shape.columns[shape.key[fixed]])) front.prefix.clear();
  drop_cut_character(front.prefix);

  store::Selection selection{.key = key, .limit = rows};
  const Value prefix{front.prefix};
  const Value null{{}, true};
  std::vector<Value> behind;
  std::vector<Value> last;
  KeyRows of_prefix(*row.access, work.clock.now_ms());
  store::Found found;
  if (is_range) selection.range.bound = store::Bound::within;
  if (is_range && !front.prefix.empty()) selection.lower = {.values = {&prefix, 1}, .begins = true};
  if (is_range && from == nullptr && front.prefix.empty() &&
      shape.columns[shape.key[fixed]].is_nullable)
    selection.lower = {.values = {&null, 1}, .open = true};
  if (is_range && from != nullptr) {
    if (from->size() != parts) return Error::table_changed;
    if (selection.lower.begins) {
      // A prefix leaves no room for another end. So the last row that has it is looked for first.
      store::Selection of_last = selection;
      of_last.range.direction = store::Direction::down;
      of_last.limit = 1;
      const Outcome outcome =
          work.store.find(*row.use, of_last, of_prefix, work.out(), sink, found);
      if (!outcome.ok() || of_prefix.keys.empty()) return outcome;
      last = values_of(of_prefix.keys[0], fixed);
      selection.upper = {.values = std::span<const Value>(last).first(1)};
    }
    behind = values_of(*from, fixed);
    selection.lower = {.values = behind, .open = true};
  }
  KeyRows met(*row.access, work.clock.now_ms());
  const Outcome outcome = work.store.find(*row.use, selection, met, work.out(), sink, found);
  if (!outcome.ok()) return outcome;
  if (is_range && from != nullptr && !met.keys.empty() && met.keys[0] == *from) {
    return say(work, "ERR the keys of this index cannot be gone through: a value is not the same " +
                         std::string("when it is read again"));
  }
  page.is_last = !is_range || met.keys.size() < rows;
  std::uint64_t effort = 0;
  for (std::size_t number = 0; number < met.keys.size(); ++number) {
    ScanKey& one = met.keys[number];
    std::string text;
    const bool has_key = met.has_key[number];
    for (std::size_t i = 0; i < parts && has_key; ++i)
      keys::append_part(*one[i], shape.columns[shape.key[i]], i + 1 == parts, text);
    if (has_key && (parts_.matches_everything() || parts_.matches(text, effort))) {
      std::string whole = name_ + text;
      bool names_row = false;
      if (const Outcome looked = look_for_key(work, row, whole, one, names_row); !looked.ok())
        return looked;
      if (names_row) page.keys.push_back(std::move(whole));
    }
    if (effort <= most_effort && &one != &met.keys.back()) continue;
    page.is_last = page.is_last && &one == &met.keys.back();
    page.last = std::move(one);
    break;
  }
  return {};
}

}  // namespace hs::redis
