// Fuzzer: sends any bytes, in any pieces, to a dialogue over tables in memory.
//
// The first two bytes choose the secret, the accounts, the bounds and the faults. Then each piece
// consists of a length byte and that many bytes. Whatever comes, the replies are well formed, and nothing
// is left undone.
#include <algorithm>
#include <charconv>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "redis/session/test_client.h"
#include "store/memory_caller.h"
#include "store/sample_tables.h"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Removes a reply from the front. False: it is none.
bool take_reply(std::string_view& text, int depth = 0) {
  const std::size_t end = text.find("\r\n");
  if (end == std::string_view::npos || end == 0 || depth > 8) return false;
  const char kind = text[0];
  const std::string_view head = text.substr(1, end - 1);
  text.remove_prefix(end + 2);
  if (kind == '+' || kind == '-' || kind == '_' || kind == ',' || kind == '#') return true;
  std::int64_t number = 0;
  const auto [stop, error] = std::from_chars(head.data(), head.data() + head.size(), number);
  if (error != std::errc{} || stop != head.data() + head.size()) return false;
  switch (kind) {
    case ':': return true;
    case '$':
    case '=': {
      if (number < 0) return true;
      const auto size = static_cast<std::size_t>(number);
      if (text.size() < size + 2 || text.substr(size, 2) != "\r\n") return false;
      text.remove_prefix(size + 2);
      return true;
    }
    case '*':
    case '~':
    case '%': {
      for (std::int64_t i = 0; i < (kind == '%' ? 2 * number : number); ++i) {
        if (!take_reply(text, depth + 1)) return false;
      }
      return true;
    }
    default: return false;
  }
}

// Knows one account, which may read one table.
class OneAccount final : public hs::store::Authenticator {
 public:
  OneAccount() { caller_->grant("hst", "t", hs::store::Rights::read); }

  hs::store::LogIn log_in(const hs::store::Credentials& who) const override {
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
  hs::redis::TestServer server({.rows = (choice & 32) != 0 ? 3u : 10'000u, .bytes = 1 << 16});
  const OneAccount authenticator;
  if ((choice & 1) != 0) server.log_in.secret = "s";
  if ((accounts & 1) != 0) server.log_in.authenticator = &authenticator;
  if ((accounts & 2) != 0) server.log_in.anonymous = nullptr;
  if ((accounts & 4) != 0) {
    server.config->connections = [] {
      hs::net::ConnectionList list{.connections = {}, .is_complete = true};
      list.connections.emplace_back().id = 7;
      list.connections.emplace_back().id = 8;
      return list;
    };
    server.config->close = [](std::uint64_t) { return hs::net::Closing::begun; };
  }
  if ((choice & 2) != 0) server.config->default_database = "hst";
  if ((choice & 4) != 0) server.max_request_size = 100;
  if ((choice & 8) != 0) server.passes.max_pass_steps = 2;
  if ((accounts & 8) != 0) server.passes.looks_ahead = true;
  hs::store::add_golden_tables(server.database);
  hs::store::add_container_tables(server.database);
  auto containers = std::make_shared<hs::keys::ContainerSource>();
  require(hs::keys::read_source("handlersocket.containers", *containers), "it is a name");
  server.config->containers = containers;
  if ((choice & 16) != 0) server.database.find_table("hst", "ai")->set_blocked(true);
  server.start();
  if ((choice & 64) != 0)
    server.worker_store->faults().next_commit = hs::Status(hs::Error::too_large, 1197);
  if ((choice & 128) != 0) server.worker_store->faults().broken_in = 2;
  hs::redis::TestClient client(server);

  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  while (!rest.empty() && !client.closed()) {
    const std::size_t length = static_cast<unsigned char>(rest[0]);
    const std::string_view piece = rest.substr(1, length);
    rest.remove_prefix(1 + piece.size());
    const std::string replies = client.send(piece);
    require(replies != "no progress", "each turn makes progress");
    for (std::string_view left = replies; !left.empty();)
      require(take_reply(left), "a reply is well formed");
    if (!client.closed()) require(client.next() == hs::net::Next::wait, "nothing is left undone");
  }
  return 0;
}
