// HandlerSocket's own protocol, with the project's writer and reader.
#include <algorithm>
#include <charconv>
#include <cstring>
#include <deque>
#include <vector>

#include "handlersocket/protocol/reply_reader.h"
#include "handlersocket/protocol/request_writer.h"
#include "load/options.h"
#include "load/wire.h"

namespace hs::bench {
namespace {

// The purpose of each index id.
constexpr std::uint64_t find_id = 1;
constexpr std::uint64_t update_id = 2;
constexpr std::uint64_t insert_id = 3;

constexpr std::size_t max_checked_reply = std::size_t{1} << 30;

std::size_t count_columns(std::string_view columns) {
  return static_cast<std::size_t>(std::ranges::count(columns, ',')) + 1;
}

// Looks at the first bytes of a line and, if rows have to be counted, at its TABs. It never keeps
// the line.
class LineCounter final : public ReplyCounter {
 public:
  LineCounter(std::size_t columns, bool many_rows, bool only_finds)
      : columns_(columns),
        empty_size_(std::to_string(columns).size() + 2),
        many_rows_(many_rows),
        only_finds_(only_finds) {}

  void feed(std::string_view bytes, Tally& tally) override {
    const char* at = bytes.data();
    const char* end = at + bytes.size();
    while (at != end) {
      const auto* line_end =
          static_cast<const char*>(std::memchr(at, '\n', static_cast<std::size_t>(end - at)));
      const char* stop = line_end == nullptr ? end : line_end;
      if (size_ == 0 && at != stop) failed_ = *at != '0';
      size_ += static_cast<std::size_t>(stop - at);
      if (many_rows_) tabs_ += static_cast<std::size_t>(std::count(at, stop, '\t'));
      if (line_end == nullptr) return;
      end_line({at, static_cast<std::size_t>(stop - at)}, tally);
      at = line_end + 1;
    }
  }

 private:
  void end_line(std::string_view last_piece, Tally& tally) {
    ++tally.replies;
    if (failed_ || size_ == 0) [[unlikely]] {
      tally.error(last_piece);
    } else if (many_rows_) {
      tally.rows += (tabs_ - 1) / columns_;
      tally.misses += tabs_ == 1;
    } else if (only_finds_ && size_ <= empty_size_) {
      ++tally.misses;
    } else {
      ++tally.rows;
    }
    size_ = 0;
    tabs_ = 0;
    failed_ = false;
  }

  std::size_t columns_;
  std::size_t empty_size_;  // the size of a find's reply without a row
  bool many_rows_;
  bool only_finds_;
  std::size_t size_ = 0;  // of the line so far
  std::size_t tabs_ = 0;
  bool failed_ = false;
};

// Parses every reply and compares it with the request. This is slower, so it is only used with
// --check.
class CheckingCounter final : public ReplyCounter {
 public:
  explicit CheckingCounter(const Options& options)
      : options_(options), columns_(count_columns(options.columns)), splitter_(max_checked_reply) {}

  void expect(Action action, std::span<const std::uint64_t> keys) override {
    expected_.push_back({action, {keys.begin(), keys.end()}});
  }

  void feed(std::string_view bytes, Tally& tally) override {
    splitter_.append(bytes);
    std::string_view line;
    while (splitter_.next(line) == handlersocket::ReplySplitter::Result::line) {
      ++tally.replies;
      handlersocket::Reply reply;
      // expect() was not called for the replies to the greeting.
      if (!reader_.read(line, reply) || !reply.ok() ||
          (!expected_.empty() && !fits(expected_.front(), reply, tally))) {
        tally.error(line);
      }
      if (!expected_.empty()) expected_.pop_front();
    }
  }

 private:
  struct Expected {
    Action action;
    std::vector<std::uint64_t> keys;
  };

  bool fits(const Expected& expected, const handlersocket::Reply& reply, Tally& tally) {
    if (expected.action == Action::insert || expected.action == Action::upsert) return true;
    if (expected.action == Action::update) {
      return !reply.values.empty() && reply.values.front().bytes == "1";
    }
    const std::size_t wanted =
        expected.action == Action::find ? columns_ : count_columns(options_.update_columns);
    if (reply.columns != wanted) return false;
    tally.rows += reply.rows();
    tally.misses += reply.rows() == 0;
    if (expected.action != Action::find) return true;
    const bool is_scan = expected.keys.size() == 1;
    std::size_t next = 0;  // of the keys
    for (std::size_t row = 0; row < reply.rows(); ++row) {
      const std::string_view value = reply.row(row).front().bytes;
      if (is_scan) {  // from the key up
        if (value != value_of(expected.keys.front() + row)) return false;
        continue;
      }
      // IN gives its rows in the order of the keys in the request. A key that is not there has no
      // row, and one that was asked for twice may have only one.
      while (next < expected.keys.size() && value != value_of(expected.keys[next])) ++next;
      if (next++ >= expected.keys.size()) return false;
    }
    return true;
  }

  // Until the next call.
  std::string_view value_of(std::uint64_t key) {
    value_.clear();
    options_.check.front().append(value_, key, 0);
    return value_.view();
  }

  const Options& options_;
  std::size_t columns_;
  handlersocket::ReplySplitter splitter_;
  handlersocket::ReplyReader reader_;
  std::deque<Expected> expected_;
  Buffer value_;
};

class HandlerSocketWire final : public Wire {
 public:
  explicit HandlerSocketWire(const Options& options)
      : options_(options), n_(options.first_number) {}

  std::size_t greet(Buffer& out) override {
    handlersocket::RequestWriter writer(out);
    std::size_t replies = 0;
    if (!options_.secret.empty()) {
      writer.auth({.secret = options_.secret});
      ++replies;
    }
    if (!options_.user.empty()) {
      writer.auth({.way = handlersocket::AuthWay::account,
                   .user = options_.user,
                   .secret = options_.password});
      ++replies;
    }
    const Mix& mix = options_.mix;
    if (mix.find != 0) replies += open(writer, find_id, options_.columns, options_.filter_column);
    if (mix.update + mix.read_modify_write != 0) {
      replies += open(writer, update_id, options_.update_columns);
    }
    if (mix.insert + mix.upsert != 0) replies += open(writer, insert_id, options_.insert_columns);
    return replies;
  }

  void write(Buffer& out, Action action, std::span<const std::uint64_t> keys) override {
    handlersocket::RequestWriter writer(out);
    if (action == Action::upsert || (action == Action::insert && keys.size() > 1))
      return insert_rows(writer, action, keys);
    if (action == Action::insert) {
      render(options_.insert_values, keys.first(1));
      writer.insert(insert_id, {.values = values_});
      return;
    }
    constexpr store::Range from_the_key = store::range_of(store::Comparison::greater_equal);
    store::Selection selection;
    render_keys(keys);
    selection.key = {keys_.data(), 1};
    if (action != Action::find) {
      render(options_.update_values, keys.first(1));
      const store::Change change{.kind = store::ChangeKind::update,
                                 .rows_before = action == Action::read_modify_write,
                                 .values = values_};
      if (options_.modified_rows > 1) {
        selection.range = from_the_key;
        selection.limit = options_.modified_rows;
      }
      writer.modify(update_id, selection, change);
      return;
    }
    if (keys.size() > 1) {
      selection.limit = keys.size();
      selection.in.values = keys_;
    } else if (options_.limit > 1) {
      selection.range = from_the_key;
      selection.limit = options_.limit;
      selection.offset = options_.offset;
    }
    const store::Filter filter{.kind = store::FilterKind::skip,
                               .comparison = store::Comparison::equal,
                               .column = 0,
                               .value = {.bytes = options_.filter_value}};
    if (!options_.filter_column.empty()) selection.filters = {&filter, 1};
    writer.find(find_id, selection);
  }

  std::unique_ptr<ReplyCounter> counter() const override {
    if (!options_.check.empty()) return std::make_unique<CheckingCounter>(options_);
    const bool many_rows = options_.keys_per_find > 1 || options_.limit > 1;
    return std::make_unique<LineCounter>(count_columns(options_.columns), many_rows,
                                         options_.mix.find == 100);
  }

 private:
  std::size_t open(handlersocket::RequestWriter& writer, std::uint64_t id, std::string_view columns,
                   std::string_view filter_columns = {}) {
    // A name that cannot be sent is left out. Then the server refuses the first request.
    return writer.open_index(id, {.database = options_.database,
                                  .table = options_.table,
                                  .index = options_.index,
                                  .columns = columns,
                                  .filter_columns = filter_columns})
               ? 1
               : 0;
  }

  void render_keys(std::span<const std::uint64_t> keys) {
    constexpr std::size_t max_digits = 20;
    digits_.resize(keys.size() * max_digits);
    keys_.resize(keys.size());
    char* at = digits_.data();
    for (std::size_t i = 0; i < keys.size(); ++i, at += max_digits) {
      const auto [end, error] = std::to_chars(at, at + max_digits, keys[i]);
      keys_[i] = {.bytes = {at, static_cast<std::size_t>(end - at)}};
    }
  }

  void insert_rows(handlersocket::RequestWriter& writer, Action action,
                   std::span<const std::uint64_t> keys) {
    render(options_.insert_values, keys);
    store::InsertRows rows{.values = values_, .columns = options_.insert_values.size()};
    const store::Assignment adds{.column = static_cast<std::uint32_t>(rows.columns - 1),
                                 .kind = store::AssignKind::add,
                                 .value = {.bytes = options_.upsert_add}};
    if (action == Action::upsert) {
      rows.on_duplicate = store::OnDuplicate::update;
      rows.assignments = {&adds, 1};
    }
    writer.insert_rows(insert_id, rows);
  }

  // The values of each key's row, one row behind the other.
  void render(const std::vector<ValueTemplate>& templates, std::span<const std::uint64_t> keys) {
    text_.clear();
    ends_.clear();
    for (const std::uint64_t key : keys) {
      ++n_;
      for (const ValueTemplate& value : templates) {
        value.append(text_, key, n_);
        ends_.push_back(text_.size());
      }
    }
    values_.clear();
    std::size_t begin = 0;
    for (const std::size_t end : ends_) {
      values_.push_back({.bytes = text_.view(begin, end)});
      begin = end;
    }
  }

  const Options& options_;
  std::vector<char> digits_;
  std::vector<store::Value> keys_;
  Buffer text_;
  std::vector<std::size_t> ends_;
  std::vector<store::Value> values_;
  std::uint64_t n_;
};

}  // namespace

std::unique_ptr<Wire> make_handlersocket_wire(const Options& options) {
  return std::make_unique<HandlerSocketWire>(options);
}

}  // namespace hs::bench
