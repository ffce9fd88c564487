// Fuzzer: sends any bytes, in any pieces, through a PassRunner over tables in memory.
//
// The first two bytes choose the port, the secret, the accounts, the bounds and the faults. Then
// each piece consists of a length byte and that many bytes. However the pieces are cut, each
// complete line gets one well-formed reply, also those of a group. A log-in comes to the authenticator as its client has
// sent it, and only the right one succeeds.
#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "handlersocket/session/test_connection.h"
#include "store/memory_caller.h"
#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace {

using hs::handlersocket::PassRunner;
using hs::handlersocket::StreamRunner;

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

bool take_digits(std::string_view& text) {
  const std::size_t digits = std::min(text.find_first_not_of("0123456789"), text.size());
  text.remove_prefix(digits);
  return digits != 0;
}

// A code, TAB, a number of columns, and values with a TAB before each. The LF is removed already.
bool is_well_formed(std::string_view reply) {
  if (!take_digits(reply) || !reply.starts_with('\t')) return false;
  reply.remove_prefix(1);
  if (!take_digits(reply)) return false;
  while (!reply.empty()) {
    if (!reply.starts_with('\t')) return false;
    reply.remove_prefix(1);
    const std::string_view value = reply.substr(0, reply.find('\t'));
    reply.remove_prefix(value.size());
    if (value == std::string_view("\0", 1)) continue;
    for (std::size_t i = 0; i < value.size(); ++i) {
      const auto byte = static_cast<unsigned char>(value[i]);
      if (byte >= 0x10) continue;
      const bool escape =
          byte == 0x01 && i + 1 < value.size() && value[i + 1] >= 0x40 && value[i + 1] <= 0x4F;
      if (!escape) return false;
      ++i;
    }
  }
  return true;
}

std::string_view take_piece(std::string_view& rest) {
  const std::size_t length = static_cast<unsigned char>(rest[0]);
  const std::string_view piece = rest.substr(1, length);
  rest.remove_prefix(1 + piece.size());
  return piece;
}

// Knows one account, which may read one table.
class OneAccount final : public hs::store::Authenticator {
 public:
  OneAccount() { caller_->grant("hst", "t", hs::store::Rights::read); }

  hs::store::LogIn log_in(const hs::store::Credentials& who) const override {
    require(who.socket == -1 && who.tls == nullptr, "the client is where it is");
    if (who.user != "ann" || who.password != "sesame")
      return {.status = hs::Status(hs::Error::wrong_log_in, 1045), .caller = nullptr};
    return {.status = {}, .caller = caller_};
  }

 private:
  const std::shared_ptr<hs::store::MemoryCaller> caller_ =
      std::make_shared<hs::store::MemoryCaller>();
};

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t choice = data[0];
  const std::uint8_t accounts = data[1];
  hs::handlersocket::RunnerConfig config;
  config.session.writable = (choice & 1) != 0;
  if ((choice & 2) != 0) {
    config.session.secret = "s";
    if ((choice & 8) != 0) config.session.anonymous = nullptr;
  }
  const OneAccount authenticator;
  if ((accounts & 1) != 0) config.session.authenticator = &authenticator;
  if ((accounts & 2) != 0) config.session.anonymous = nullptr;
  config.max_request_size = (choice & 4) != 0 ? 100 : 1 << 20;
  config.max_pass_steps = (choice & 8) != 0 ? 2 : 20'000;
  config.looks_ahead = (choice & 4) == 0;
  config.lock_wait_timeout = std::chrono::nanoseconds{0};

  hs::store::MemoryDatabase database;
  hs::store::add_golden_tables(database);
  if ((choice & 16) != 0) database.find_table("hst", "ai")->set_blocked(true);
  const hs::store::MemoryBounds bounds{
      .rows = (choice & 32) != 0 ? 3u : 10'000u, .bytes = 1 << 16, .flush_bytes = 16};
  hs::CounterBlock counters;
  // The streamers of a port may do what its workers may: a long modification goes to a streamer.
  const auto access = config.session.writable ? hs::store::Access::write : hs::store::Access::read;
  auto store = std::make_unique<hs::store::MemoryStore>(database, access, counters, bounds);
  if ((choice & 64) != 0) store->faults().next_commit = hs::Status(hs::Error::too_large, 1197);
  if ((choice & 128) != 0) store->faults().broken_in = 2;
  PassRunner worker(config, std::move(store), counters);
  StreamRunner streamer(
      config, std::make_unique<hs::store::MemoryStore>(database, access, counters, bounds),
      counters);
  hs::handlersocket::TestConnection connection(worker, streamer);
  connection.max_request_size = config.max_request_size.get();
  connection.is_loopback = (accounts & 4) == 0;

  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  std::size_t lines = 0;
  std::size_t answered = 0;
  while (!rest.empty() && !connection.closed()) {
    const std::string_view piece = take_piece(rest);
    lines += static_cast<std::size_t>(std::count(piece.begin(), piece.end(), '\n'));
    const std::string replies = connection.send(piece);
    require(replies.empty() || replies.ends_with('\n'), "replies are whole lines");
    for (std::string_view left = replies; !left.empty();) {
      const std::string_view reply = left.substr(0, left.find('\n'));
      left.remove_prefix(reply.size() + 1);
      require(is_well_formed(reply), "a reply is well formed");
      ++answered;
    }
    if (!connection.closed()) {
      require(connection.next() == hs::net::Next::wait, "nothing is left undone");
      const std::string_view waits = connection.input();
      require(connection.dialogue()->whole_requests(waits) == 0, "what waits is no whole request");
      const auto waiting = static_cast<std::size_t>(std::count(waits.begin(), waits.end(), '\n'));
      require(answered + waiting == lines, "as many replies as lines");
    }
  }
  require(answered <= lines + 1, "no reply too many");
  return 0;
}
