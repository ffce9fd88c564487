// Fuzzer: sends any bytes, in any pieces, to a dialogue over tables in memory.
//
// The first two bytes choose the secret, the accounts, the bounds and the faults. Then each piece
// consists of a length byte and that many bytes. Whatever comes, the replies are whole lines or whole
// packets, and nothing is left undone.
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <string_view>

#include "memcached/protocol/binary_packet.h"
#include "memcached/session/test_containers.h"
#include "store/memory_caller.h"

namespace {

void require(bool condition, const char* what) {
  if (condition) return;
  std::fprintf(stderr, "broken: %s\n", what);
  std::abort();
}

// Knows one account, which may read one table.
class OneAccount final : public hs::store::Authenticator {
 public:
  OneAccount() { caller_->grant("hs", "kv", hs::store::Rights::read); }

  hs::store::LogIn log_in(const hs::store::Credentials& who) const override {
    if (who.user != "ann" || who.password != "sesame")
      return {.status = hs::Status(hs::Error::wrong_log_in, 1045), .caller = nullptr};
    return {.status = {}, .caller = caller_};
  }

 private:
  const std::shared_ptr<hs::store::MemoryCaller> caller_ =
      std::make_shared<hs::store::MemoryCaller>();
};

bool are_packets(std::string_view replies) {
  using hs::memcached::BinaryHeader;
  while (replies.size() >= BinaryHeader::size) {
    const BinaryHeader header = hs::memcached::read_header(replies);
    replies.remove_prefix(BinaryHeader::size);
    if (header.body > replies.size() || header.extras + header.key > header.body) return false;
    replies.remove_prefix(header.body);
  }
  return replies.empty();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::uint8_t choice = data[0];
  const std::uint8_t accounts = data[1];
  hs::memcached::TestContainers server(
      {.rows = (choice & 32) != 0 ? 3u : 10'000u, .bytes = 1 << 12});
  const OneAccount authenticator;
  if ((choice & 1) != 0) server.log_in.secret = "s";
  if ((accounts & 1) != 0) server.log_in.authenticator = &authenticator;
  if ((accounts & 2) != 0) server.log_in.anonymous = nullptr;
  if ((choice & 2) != 0) server.may_flush = true;
  if ((choice & 4) != 0) server.max_request_size = 5000;
  if ((choice & 8) != 0) server.passes.max_pass_steps = 2;
  if ((accounts & 4) != 0) server.passes.looks_ahead = true;
  if ((choice & 16) != 0) server.database.find_table("hs", "two")->set_blocked(true);
  server.start();
  if ((choice & 64) != 0)
    server.worker_store->faults().next_commit = hs::Status(hs::Error::too_large, 1197);
  if ((choice & 128) != 0) server.worker_store->faults().broken_in = 2;
  hs::memcached::TestClient client(server);

  std::string_view rest(reinterpret_cast<const char*>(data) + 2, size - 2);
  while (!rest.empty() && !client.closed()) {
    const std::size_t length = static_cast<unsigned char>(rest[0]);
    const std::string_view piece = rest.substr(1, length);
    rest.remove_prefix(1 + piece.size());
    const std::string replies = client.send(piece);
    require(replies != "no progress", "each turn makes progress");
    if (replies.starts_with('\x81')) {
      require(are_packets(replies), "replies are packets");
    } else {
      require(replies.empty() || replies.ends_with("\r\n"), "replies are lines");
    }
    if (!client.closed()) require(client.next() == hs::net::Next::wait, "nothing is left undone");
  }
  return 0;
}
