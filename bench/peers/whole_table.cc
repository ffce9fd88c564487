// hs-whole-table MODE PORT: reads every row of test.user, and prints the rows, the bytes of their
// values and this program's CPU time as one line of JSON.
//
//   stream    HandlerSocket: one find of everything
//   pieces    HandlerSocket: finds of 100,000 rows, each behind the last key of the one before it,
//             on a connection of its own. So a client goes on that has lost its connection.
//   cursor    SQL: a prepared SELECT with a cursor of the server, read 1,000 rows at a time
//   result    SQL: a SELECT whose rows are read as they come, as `mariadb --quick` does
//
// One thread, and every row is taken apart into its values.
#include <mysql.h>
#include <poll.h>

#include <array>
#include <charconv>
#include <cstring>
#include <iostream>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/connect.h"
#include "load/options.h"
#include "load/process_time.h"

namespace {

using hs::bench::Address;
using hs::bench::Socket;

constexpr int timeout_ms = 30'000;
constexpr std::size_t columns = 4;
constexpr std::size_t most_rows_of_piece = 100'000;
constexpr std::size_t everything = 1'000'000'000;
constexpr std::size_t room = std::size_t{256} << 10;
constexpr unsigned long rows_a_fetch = 1'000;
constexpr std::string_view open_index =
    "P\t1\ttest\tuser\tPRIMARY\tuser_id,user_name,user_email,created\n";
constexpr std::string_view select_all =
    "SELECT user_id, user_name, user_email, created FROM test.user";

struct Read {
  std::uint64_t rows = 0;
  std::uint64_t bytes = 0;  // of the values
};

// Takes a reply apart while it comes: `0`, the number of columns, and the values of all rows.
class RowReader {
 public:
  explicit RowReader(Read& read) : read_(read) {}

  // False if this is no reply with rows. It is the only reply of its connection.
  bool feed(std::string_view bytes) {
    ended_ = bytes.ends_with('\n');
    if (ended_) bytes.remove_suffix(1);
    while (true) {
      const std::size_t end = bytes.find('\t');
      const bool is_whole = end != std::string_view::npos;
      if (!is_whole && !ended_) {
        begun_.append(bytes);
        return true;
      }
      std::string_view token = bytes.substr(0, end);
      if (!begun_.empty()) token = begun_.append(token);
      if (!take(token)) return false;
      begun_.clear();
      if (!is_whole) return true;
      bytes.remove_prefix(end + 1);
    }
  }
  bool ended() const { return ended_; }
  std::uint64_t rows() const { return rows_; }
  const std::string& last_key() const { return last_key_; }

 private:
  bool take(std::string_view token) {
    const std::size_t number = tokens_++;
    if (number == 0) return token == "0";
    if (number == 1) return token == "4";
    if (number % columns == 2) last_key_.assign(token);
    read_.bytes += token.size();
    if (number % columns == 1) {
      ++rows_;
      ++read_.rows;
    }
    return true;
  }

  Read& read_;
  std::string begun_;
  std::string last_key_;
  std::size_t tokens_ = 0;
  std::uint64_t rows_ = 0;
  bool ended_ = false;
};

bool send_whole(Socket& socket, std::string_view bytes) {
  return socket.send(bytes) == static_cast<ssize_t>(bytes.size());
}

// Sends a find to a new connection and reads its reply. Returns what went wrong, or an empty text.
std::string read_find(Address& address, const std::string& find, RowReader& reader,
                      std::vector<char>& buffer) {
  Socket socket = address.connect(timeout_ms);
  if (!socket.valid()) return address.error();
  if (!send_whole(socket, std::string(open_index) + find)) return "cannot send";
  std::size_t skipped = std::string_view("0\t1\n").size();
  while (!reader.ended()) {
    if (!hs::bench::wait_for(socket.get(), POLLIN, timeout_ms)) return "the server does not answer";
    const ssize_t got = socket.receive(buffer);
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) return "the server closed the connection";
    std::string_view bytes(buffer.data(), static_cast<std::size_t>(got));
    const std::size_t passed = std::min(skipped, bytes.size());
    skipped -= passed;
    bytes.remove_prefix(passed);
    if (!reader.feed(bytes)) return "the server refused the find";
  }
  return {};
}

std::string read_by_finds(std::uint16_t port, std::size_t piece, Read& read) {
  hs::bench::Options options;
  options.port = port;
  std::optional<Address> address = Address::of(options);
  if (!address) return "there is no such address";
  std::vector<char> buffer(room);
  std::string find = "1\tup\t0\t" + std::to_string(piece) + "\n";
  while (true) {
    RowReader reader(read);
    if (std::string wrong = read_find(*address, find, reader, buffer); !wrong.empty()) return wrong;
    if (reader.rows() < piece) return {};
    find = "1\t>\t1\t" + reader.last_key() + "\t" + std::to_string(piece) + "\n";
  }
}

struct CloseConnection {
  void operator()(MYSQL* mysql) const { mysql_close(mysql); }
};
struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};
using Connection = std::unique_ptr<MYSQL, CloseConnection>;
using Statement = std::unique_ptr<MYSQL_STMT, CloseStatement>;

std::string read_by_cursor(MYSQL* mysql, Read& read) {
  const Statement statement(mysql_stmt_init(mysql));
  const unsigned long kind = CURSOR_TYPE_READ_ONLY;
  mysql_stmt_attr_set(statement.get(), STMT_ATTR_CURSOR_TYPE, &kind);
  mysql_stmt_attr_set(statement.get(), STMT_ATTR_PREFETCH_ROWS, &rows_a_fetch);
  std::array<std::array<char, 256>, columns> values{};
  std::array<unsigned long, columns> lengths{};
  std::array<MYSQL_BIND, columns> binds{};
  for (std::size_t i = 0; i < columns; ++i) {
    binds[i].buffer_type = MYSQL_TYPE_STRING;
    binds[i].buffer = values[i].data();
    binds[i].buffer_length = values[i].size();
    binds[i].length = &lengths[i];
  }
  if (mysql_stmt_prepare(statement.get(), select_all.data(), select_all.size()) != 0 ||
      mysql_stmt_execute(statement.get()) != 0 ||
      mysql_stmt_bind_result(statement.get(), binds.data()) != 0) {
    return mysql_stmt_error(statement.get());
  }
  int fetched = 0;
  while ((fetched = mysql_stmt_fetch(statement.get())) == 0) {
    ++read.rows;
    for (const unsigned long length : lengths) read.bytes += length;
  }
  return fetched == MYSQL_NO_DATA ? std::string() : mysql_stmt_error(statement.get());
}

std::string read_by_result(MYSQL* mysql, Read& read) {
  if (mysql_real_query(mysql, select_all.data(), select_all.size()) != 0) return mysql_error(mysql);
  MYSQL_RES* const result = mysql_use_result(mysql);
  if (result == nullptr) return mysql_error(mysql);
  while (mysql_fetch_row(result) != nullptr) {
    ++read.rows;
    const unsigned long* const lengths = mysql_fetch_lengths(result);
    for (std::size_t i = 0; i < columns; ++i) read.bytes += lengths[i];
  }
  std::string wrong = mysql_error(mysql);
  mysql_free_result(result);
  return wrong;
}

std::string read_by_sql(std::uint16_t port, bool by_cursor, Read& read) {
  const Connection mysql(mysql_init(nullptr));
  const unsigned protocol = MYSQL_PROTOCOL_TCP;
  mysql_options(mysql.get(), MYSQL_OPT_PROTOCOL, &protocol);
  if (mysql_real_connect(mysql.get(), "127.0.0.1", "root", nullptr, "test", port, nullptr, 0) ==
      nullptr) {
    return mysql_error(mysql.get());
  }
  return by_cursor ? read_by_cursor(mysql.get(), read) : read_by_result(mysql.get(), read);
}

int run(std::string_view mode, std::uint16_t port) {
  Read read;
  std::string wrong = "no such mode";
  if (mode == "stream") wrong = read_by_finds(port, everything, read);
  if (mode == "pieces") wrong = read_by_finds(port, most_rows_of_piece, read);
  if (mode == "cursor" || mode == "result") wrong = read_by_sql(port, mode == "cursor", read);
  if (!wrong.empty()) {
    std::cerr << "hs-whole-table: " << wrong << "\n";
    return 1;
  }
  const hs::bench::CpuTime own = hs::bench::own_cpu_time();
  std::cout << "{\"rows\": " << read.rows << ", \"bytes\": " << read.bytes
            << ", \"client_cpu\": " << own.user + own.system << "}\n";
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  std::uint16_t port = 0;
  if (argc == 3) std::from_chars(argv[2], argv[2] + std::strlen(argv[2]), port);
  if (port == 0) {
    std::cerr << "usage: hs-whole-table stream|pieces|cursor|result PORT\n";
    return 2;
  }
  return run(argv[1], port);
}
