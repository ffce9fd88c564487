// MySQL's X protocol: a statement is prepared once and executed for each request.
//
// A frame consists of its length in four bytes (little-endian), a byte for its kind, and a Protocol
// Buffers message. What this file writes needs three kinds of fields. Of the replies only the kind
// of frame counts, so no message is parsed. So the load generator does not need a library for
// messages, which would take more time than the server's work.
#include <algorithm>
#include <array>
#include <string>

#include "load/options.h"
#include "load/wire.h"

namespace hs::bench {
namespace {

// The kinds of frames, as MySQL numbers them.
enum class Sent : std::uint8_t {
  authenticate_start = 4,
  prepare = 40,
  execute = 41,
};
enum class Received : std::uint8_t {
  ok = 0,
  error = 1,
  authenticate_ok = 4,
  row = 13,
  statement_ok = 17,
};

constexpr std::size_t header_size = 5;
constexpr std::uint32_t select_id = 1;
constexpr std::uint32_t update_id = 2;

// Messages are built from the inside to the outside. Each of these returns the bytes of one field.
std::string varint(std::uint64_t value) {
  std::string bytes;
  for (; value >= 0x80; value >>= 7) bytes += static_cast<char>(value | 0x80);
  bytes += static_cast<char>(value);
  return bytes;
}
std::string number_field(std::uint32_t field, std::uint64_t value) {
  return varint(field << 3) + varint(value);
}
std::string bytes_field(std::uint32_t field, std::string_view value) {
  return varint(field << 3 | 2) + varint(value.size()) + std::string(value);
}

void append_frame(Buffer& out, Sent kind, std::string_view message) {
  const auto length = static_cast<std::uint32_t>(message.size() + 1);
  for (int shift = 0; shift < 32; shift += 8) out.push_back(static_cast<char>(length >> shift));
  out.push_back(static_cast<char>(kind));
  out.append(message);
}

// An `Any` that holds a scalar: of type V_UINT (2) in field 3, or V_STRING (8) in field 9.
std::string unsigned_argument(std::uint64_t value) {
  const std::string scalar = number_field(1, 2) + number_field(3, value);
  return bytes_field(2, number_field(1, 1) + bytes_field(2, scalar));
}
std::string string_argument(std::string_view value) {
  const std::string scalar = number_field(1, 8) + bytes_field(9, bytes_field(1, value));
  return bytes_field(2, number_field(1, 1) + bytes_field(2, scalar));
}

class MysqlxCounter final : public ReplyCounter {
 public:
  explicit MysqlxCounter(bool only_finds) : only_finds_(only_finds) {}

  void feed(std::string_view bytes, Tally& tally) override {
    while (!bytes.empty()) {
      if (header_length_ < header_size) {
        header_[header_length_++] = static_cast<unsigned char>(bytes.front());
        bytes.remove_prefix(1);
        if (header_length_ < header_size) continue;
        const std::uint32_t length = header_[0] | std::uint32_t{header_[1]} << 8 |
                                     std::uint32_t{header_[2]} << 16 |
                                     std::uint32_t{header_[3]} << 24;
        rest_ = length == 0 ? 0 : length - 1;
      } else {
        const auto taken = std::min<std::size_t>(rest_, bytes.size());
        if (kind() == Received::error) error_.append(bytes.substr(0, taken));
        bytes.remove_prefix(taken);
        rest_ -= static_cast<std::uint32_t>(taken);
      }
      if (header_length_ == header_size && rest_ == 0) {
        on_frame(tally);
        header_length_ = 0;
      }
    }
  }

 private:
  Received kind() const { return static_cast<Received>(header_[4]); }

  void on_frame(Tally& tally) {
    switch (kind()) {
      case Received::row: ++rows_; return;
      case Received::ok:
      case Received::authenticate_ok: ++tally.replies; return;
      case Received::error:
        ++tally.replies;
        tally.error(error_);
        error_.clear();
        return;
      case Received::statement_ok:
        ++tally.replies;
        tally.rows += rows_;
        tally.misses += only_finds_ && rows_ == 0;
        rows_ = 0;
        return;
    }
    // Columns, notices and the end of the rows are not counted.
  }

  bool only_finds_;
  std::array<unsigned char, header_size> header_{};
  std::size_t header_length_ = 0;
  std::uint32_t rest_ = 0;  // how much of the frame's message is missing
  std::uint64_t rows_ = 0;
  std::string error_;
};

class MysqlxWire final : public Wire {
 public:
  explicit MysqlxWire(const Options& options) : options_(options), n_(options.first_number) {
    const std::string place =
        " WHERE " + options.key_column + (options.keys_per_find > 1 ? " IN (" : " = ") + "?";
    select_ =
        "SELECT " + options.columns + " FROM " + options.database + "." + options.table + place;
    for (std::uint32_t i = 1; i < options.keys_per_find; ++i) select_ += ",?";
    if (options.keys_per_find > 1) select_ += ")";
    update_ = "UPDATE " + options.database + "." + options.table + " SET " +
              options.update_columns + " = ? WHERE " + options.key_column + " = ?";
  }

  // The password is sent as plain text, which the server accepts over a Unix socket.
  std::size_t greet(Buffer& out) override {
    // Database (none), user and password, with a NUL between them.
    const std::string login = '\0' + options_.user + '\0' + options_.password;
    append_frame(out, Sent::authenticate_start, bytes_field(1, "PLAIN") + bytes_field(2, login));
    std::size_t replies = 1;
    if (options_.mix.find != 0) replies += prepare(out, select_id, select_);
    if (options_.mix.update != 0) replies += prepare(out, update_id, update_);
    return replies;
  }

  void write(Buffer& out, Action action, std::span<const std::uint64_t> keys) override {
    message_ = number_field(1, action == Action::find ? select_id : update_id);
    if (action != Action::find) {
      value_.clear();
      options_.update_values.front().append(value_, keys.front(), ++n_);
      message_ += string_argument(value_.view());
    }
    for (const std::uint64_t key : keys) message_ += unsigned_argument(key);
    // Asks the server not to send the names of columns each time.
    message_ += number_field(3, 1);
    append_frame(out, Sent::execute, message_);
  }

  std::unique_ptr<ReplyCounter> counter() const override {
    return std::make_unique<MysqlxCounter>(options_.mix.find == 100);
  }

 private:
  static std::size_t prepare(Buffer& out, std::uint32_t id, std::string_view statement) {
    // One of several kinds: 5 is an SQL statement, which is in field 6.
    const std::string one_of = number_field(1, 5) + bytes_field(6, bytes_field(1, statement));
    append_frame(out, Sent::prepare, number_field(1, id) + bytes_field(2, one_of));
    return 1;
  }

  const Options& options_;
  std::string select_;
  std::string update_;
  std::string message_;
  Buffer value_;
  std::uint64_t n_;
};

}  // namespace

std::unique_ptr<Wire> make_mysqlx_wire(const Options& options) {
  return std::make_unique<MysqlxWire>(options);
}

}  // namespace hs::bench
