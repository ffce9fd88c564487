// hs-bench-sql: the same lookups and updates through SQL and libmariadb, one thread for each
// connection.
//
// SQL has no pipelines. A client that wants to send more at once opens more connections.
#include <mysql.h>

#include <CLI/CLI.hpp>
#include <array>
#include <atomic>
#include <cstring>
#include <iostream>
#include <map>
#include <memory>
#include <thread>
#include <vector>

#include "base/buffer.h"
#include "load/histogram.h"
#include "load/key_chooser.h"
#include "load/meter.h"

namespace hs::bench {
namespace {

enum class Mode : std::uint8_t {
  prepared,  // a prepared SELECT by key, binary protocol
  text,      // the same as text
  handler,   // HANDLER … READ by key
  update,    // a prepared UPDATE, autocommit
  insert,    // a prepared INSERT of new rows, autocommit
  upsert,    // a prepared INSERT … ON DUPLICATE KEY UPDATE that adds, autocommit
  connect,   // connect, SELECT by key, close
};

const std::map<std::string, Mode> modes{{"prepared", Mode::prepared}, {"text", Mode::text},
                                        {"handler", Mode::handler},   {"update", Mode::update},
                                        {"insert", Mode::insert},     {"upsert", Mode::upsert},
                                        {"connect", Mode::connect}};

constexpr std::string_view prepared_select =
    "SELECT user_name, user_email, created FROM test.user WHERE user_id = ?";
constexpr std::string_view prepared_update =
    "UPDATE test.user SET user_email = ? WHERE user_id = ?";
constexpr std::string_view prepared_insert =
    "INSERT INTO test.user (user_id, user_name, user_email, created) VALUES ";
constexpr std::string_view prepared_row =
    "(?, 'user_0000042', 'user_0000042@example.com', '2020-01-01 00:00:00')";
constexpr std::string_view prepared_upsert =
    "INSERT INTO test.counter (id, n) VALUES (?, 1) ON DUPLICATE KEY UPDATE n = n + 1";

// So that no two threads write the same value.
constexpr std::uint64_t updates_of_a_thread = 1'000'000;

struct CloseConnection {
  void operator()(MYSQL* mysql) const { mysql_close(mysql); }
};
struct CloseStatement {
  void operator()(MYSQL_STMT* statement) const { mysql_stmt_close(statement); }
};

class SqlClient {
 public:
  SqlClient(const Options& options, Mode mode, std::atomic<std::uint64_t>& newest,
            std::uint64_t seed)
      : options_(options),
        mode_(mode),
        keys_(options.keys, newest, seed),
        new_email_(*ValueTemplate::parse(same_size_update)),
        n_(options.first_number + seed * updates_of_a_thread) {}

  bool prepare() {
    if (mode_ == Mode::connect) return true;
    if (!open()) return false;
    if (mode_ == Mode::handler) return query("HANDLER test.user OPEN AS h");
    if (mode_ == Mode::text) return true;
    const std::string text = statement_text();
    statement_.reset(mysql_stmt_init(mysql_.get()));
    if (mysql_stmt_prepare(statement_.get(), text.data(), text.size()) != 0) {
      return fail(mysql_stmt_error(statement_.get()));
    }
    return bind();
  }

  void run(const Timeline& timeline) {
    while (true) {
      const auto started = Clock::now();
      if (started >= timeline.to) return;
      const std::uint64_t rows_before = rows_;
      const bool ok = request(mode_ == Mode::insert ? 0 : keys_.existing());
      const auto ended = Clock::now();
      done_.store(done_.load(std::memory_order_relaxed) + 1, std::memory_order_relaxed);
      if (ended >= timeline.from && ended < timeline.to) {
        ++tally_.replies;
        tally_.rows += rows_ - rows_before;
        tally_.misses += rows_ == rows_before;
        latency_.record(static_cast<std::uint64_t>((ended - started).count()));
      }
      if (!ok) return;
    }
  }

  std::uint64_t done() const { return done_.load(std::memory_order_relaxed); }
  const Tally& tally() const { return tally_; }
  const Histogram& latency() const { return latency_; }

 private:
  bool changes() const {
    return mode_ == Mode::update || mode_ == Mode::insert || mode_ == Mode::upsert;
  }

  std::string statement_text() const {
    if (mode_ == Mode::update) return std::string(prepared_update);
    if (mode_ == Mode::upsert) return std::string(prepared_upsert);
    if (mode_ != Mode::insert) return std::string(prepared_select);
    std::string text(prepared_insert);
    for (std::uint32_t row = 0; row < options_.rows_per_insert; ++row)
      (text += row == 0 ? "" : ", ") += prepared_row;
    return text;
  }

  bool fail(const char* why) {
    tally_.error(why);
    return false;
  }

  bool open() {
    mysql_.reset(mysql_init(nullptr));
    const bool is_tcp = options_.unix_socket.empty();
    const unsigned protocol = is_tcp ? MYSQL_PROTOCOL_TCP : MYSQL_PROTOCOL_SOCKET;
    mysql_options(mysql_.get(), MYSQL_OPT_PROTOCOL, &protocol);
    if (mysql_real_connect(mysql_.get(), is_tcp ? options_.host.c_str() : nullptr, "root", nullptr,
                           "test", is_tcp ? options_.port : 0,
                           is_tcp ? nullptr : options_.unix_socket.c_str(), 0) == nullptr) {
      return fail(mysql_error(mysql_.get()));
    }
    return true;
  }

  // Parameters and results are members of this object: they are bound once, and every execution
  // uses them.
  bool bind() {
    MYSQL_BIND key{};
    key.buffer_type = MYSQL_TYPE_LONG;
    key.buffer = &key_;
    key.is_unsigned = 1;
    if (mode_ == Mode::update) {
      std::array<MYSQL_BIND, 2> parameters{};
      parameters[0].buffer_type = MYSQL_TYPE_STRING;
      parameters[0].buffer = value_.data();
      parameters[0].buffer_length = value_.size();
      parameters[0].length = &value_length_;
      parameters[1] = key;
      return mysql_stmt_bind_param(statement_.get(), parameters.data()) == 0;
    }
    if (mode_ == Mode::upsert) return mysql_stmt_bind_param(statement_.get(), &key) == 0;
    if (mode_ == Mode::insert) {
      new_keys_.resize(options_.rows_per_insert);
      std::vector<MYSQL_BIND> parameters(new_keys_.size(), key);
      for (std::size_t i = 0; i < parameters.size(); ++i) parameters[i].buffer = &new_keys_[i];
      return mysql_stmt_bind_param(statement_.get(), parameters.data()) == 0;
    }
    std::array<MYSQL_BIND, 3> columns{};
    for (std::size_t i = 0; i < columns.size(); ++i) {
      columns[i].buffer_type = MYSQL_TYPE_STRING;
      columns[i].buffer = columns_[i].data();
      columns[i].buffer_length = columns_[i].size();
    }
    return mysql_stmt_bind_param(statement_.get(), &key) == 0 &&
           mysql_stmt_bind_result(statement_.get(), columns.data()) == 0;
  }

  bool request(std::uint64_t key) {
    switch (mode_) {
      case Mode::prepared:
      case Mode::insert:
      case Mode::upsert:
      case Mode::update: return execute(key);
      case Mode::text: return query(select_text(key));
      case Mode::handler: return query("HANDLER h READ `PRIMARY` = (" + std::to_string(key) + ")");
      case Mode::connect: break;
    }
    return open() && query(select_text(key));
  }

  static std::string select_text(std::uint64_t key) {
    return "SELECT user_name, user_email, created FROM test.user WHERE user_id = " +
           std::to_string(key);
  }

  bool execute(std::uint64_t key) {
    key_ = static_cast<std::uint32_t>(key);
    if (mode_ == Mode::update) {
      email_.clear();
      new_email_.append(email_, key, ++n_);
      value_length_ = std::min(email_.size(), value_.size());
      std::memcpy(value_.data(), email_.data(), value_length_);
    }
    for (std::uint32_t& new_key : new_keys_) new_key = static_cast<std::uint32_t>(keys_.insert());
    if (mysql_stmt_execute(statement_.get()) != 0) return fail(mysql_stmt_error(statement_.get()));
    if (changes()) {
      rows_ += mysql_stmt_affected_rows(statement_.get());
      return true;
    }
    int fetched = 0;
    while ((fetched = mysql_stmt_fetch(statement_.get())) == 0) ++rows_;
    mysql_stmt_free_result(statement_.get());
    return fetched == MYSQL_NO_DATA || fail(mysql_stmt_error(statement_.get()));
  }

  bool query(const std::string& text) {
    if (mysql_real_query(mysql_.get(), text.data(), text.size()) != 0) {
      return fail(mysql_error(mysql_.get()));
    }
    MYSQL_RES* rows = mysql_store_result(mysql_.get());
    if (rows == nullptr) return mysql_errno(mysql_.get()) == 0 || fail(mysql_error(mysql_.get()));
    rows_ += mysql_num_rows(rows);
    mysql_free_result(rows);
    return true;
  }

  const Options& options_;
  Mode mode_;
  KeyChooser keys_;
  ValueTemplate new_email_;
  Buffer email_;
  std::unique_ptr<MYSQL, CloseConnection> mysql_;
  std::unique_ptr<MYSQL_STMT, CloseStatement> statement_;
  std::uint32_t key_ = 0;
  std::vector<std::uint32_t> new_keys_;  // of an insert
  std::array<char, 64> value_{};
  unsigned long value_length_ = 0;
  std::array<std::array<char, 256>, 3> columns_{};
  std::uint64_t n_;
  std::uint64_t rows_ = 0;
  Tally tally_;
  Histogram latency_;
  std::atomic<std::uint64_t> done_ = 0;
};

int run(const Options& options, Mode mode) {
  std::atomic<std::uint64_t> newest = options.keys.first + options.keys.count - 1;
  std::vector<std::unique_ptr<SqlClient>> clients;
  for (std::uint32_t i = 0; i < options.connections; ++i) {
    clients.push_back(
        std::make_unique<SqlClient>(options, mode, newest, options.seed * 1'000'003 + i));
    if (!clients.back()->prepare()) {
      std::cerr << "error: " << clients.back()->tally().first_error << '\n';
      return 2;
    }
  }
  const auto done = [&] {
    std::uint64_t sum = 0;
    for (const auto& client : clients) sum += client->done();
    return sum;
  };
  std::atomic<std::size_t> ended = 0;
  Meter meter(options, done, [&] { return ended.load() == clients.size(); });
  Result result;
  {
    const Timeline timeline = Timeline::starting_now(options);
    std::vector<std::jthread> threads;
    threads.reserve(clients.size());
    for (const auto& client : clients) {
      threads.emplace_back([&ended, &client = *client, timeline] {
        client.run(timeline);
        mysql_thread_end();
        ended.fetch_add(1);
      });
    }
    meter.watch(timeline, result);
  }
  for (const auto& client : clients) {
    result.add(client->tally());
    result.latency.merge(client->latency());
  }
  return deliver(options, result);
}

}  // namespace
}  // namespace hs::bench

namespace {

int run_command_line(int argc, char** argv) {
  CLI::App app{"The load of hs-bench through SQL: one thread and one connection each."};
  hs::bench::Options options;
  std::string mode = "prepared";
  double warm_up = 1;
  double duration = 5;
  app.add_option("--mode", mode)->check(CLI::IsMember(hs::bench::modes))->capture_default_str();
  app.add_option("--host", options.host)->capture_default_str();
  app.add_option("--port", options.port, "TCP, unless a --socket is given");
  app.add_option("--socket", options.unix_socket);
  app.add_option("--connections", options.connections)->check(CLI::Range(1, 10'000));
  app.add_option("--keys", options.keys.count)->capture_default_str();
  app.add_option("--first-key", options.keys.first)->capture_default_str();
  app.add_option("--insert-rows", options.rows_per_insert, "rows of one insert")
      ->check(CLI::Range(1, 1'000))
      ->capture_default_str();
  app.add_option("--warm-up", warm_up)->check(CLI::Range(0.0, 3600.0));
  app.add_option("--duration", duration)->check(CLI::Range(0.05, 86400.0));
  app.add_option("--seed", options.seed);
  options.first_number = hs::bench::number_of_this_run();
  app.add_option("--server-pid", options.server_pid);
  app.add_option("--json", options.json_path, "where the result goes as JSON; - is stdout");
  app.add_flag("--quiet", options.quiet);
  CLI11_PARSE(app, argc, argv);
  options.warm_up = std::chrono::duration<double>(warm_up);
  options.duration = std::chrono::duration<double>(duration);
  return hs::bench::run(options, hs::bench::modes.at(mode));
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run_command_line(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 2;
  }
}
