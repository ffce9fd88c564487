// Looking ahead while the setting is changed, on two workers: over sockets, with the in-memory store.
// What a store is told of must be alive, and its own. The sanitizers see more of it than the checks.
#include <arpa/inet.h>
#include <gtest/gtest.h>
#include <sys/socket.h>
#include <unistd.h>

#include <array>
#include <atomic>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "handlersocket/session/handlersocket.h"
#include "handlersocket/session/test_scripted_store.h"
#include "net/server.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace hs::handlersocket {
namespace {

constexpr int rows = 1000;
constexpr int rounds = 60;
constexpr int finds_of_round = 40;

// Reads all that it is told of, as a store would that fetches it.
class WatchingStore final : public SharedStore {
 public:
  WatchingStore(std::unique_ptr<store::Store> store, std::atomic<std::uint64_t>& told)
      : SharedStore(*store), owned_(std::move(store)), told_(told) {}

  bool passes_over(std::uint32_t /*finds*/) override { return false; }
  void expect(std::span<const store::Lookup> lookups) override {
    for (const store::Lookup& lookup : lookups) {
      EXPECT_EQ(lookup.index->key_parts(), 1U);
      ASSERT_EQ(lookup.key.size(), 1U);
      const std::string key(lookup.key[0].bytes);
      EXPECT_LE(std::stoi(key), rows);
      told_.fetch_add(1, std::memory_order_relaxed);
    }
  }

 private:
  const std::unique_ptr<store::Store> owned_;
  std::atomic<std::uint64_t>& told_;
};

// Asks for rows in groups, and each time for another index id, so that indexes are replaced between finds.
class Client {
 public:
  explicit Client(unsigned port) : socket_(::socket(AF_INET, SOCK_STREAM, 0)) {
    sockaddr_in place{};
    place.sin_family = AF_INET;
    place.sin_port = htons(static_cast<std::uint16_t>(port));
    place.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    const timeval patience{.tv_sec = 60, .tv_usec = 0};
    ::setsockopt(socket_, SOL_SOCKET, SO_RCVTIMEO, &patience, sizeof patience);
    EXPECT_EQ(::connect(socket_, reinterpret_cast<sockaddr*>(&place), sizeof place), 0);
  }
  Client(const Client&) = delete;
  Client& operator=(const Client&) = delete;
  ~Client() { ::close(socket_); }

  void ask(int round) {
    const std::string id = std::to_string(round % 3);
    std::string requests = "P\t" + id + "\ttest\tuser\t\tuser_id\n";
    std::string wanted = "0\t1\n";
    for (int i = 0; i < finds_of_round; ++i) {
      const std::string key = std::to_string(1 + (round * 7 + i * 13) % rows);
      requests.append(id).append("\t=\t1\t").append(key).append(1, '\n');
      wanted.append("0\t1\t").append(key).append(1, '\n');
    }
    EXPECT_EQ(::send(socket_, requests.data(), requests.size(), MSG_NOSIGNAL),
              static_cast<ssize_t>(requests.size()));
    std::string replies;
    std::array<char, 4096> piece;
    while (replies.size() < wanted.size()) {
      const ssize_t size = ::recv(socket_, piece.data(), piece.size(), 0);
      ASSERT_GT(size, 0);
      replies.append(piece.data(), static_cast<std::size_t>(size));
    }
    EXPECT_EQ(replies, wanted);
  }

 private:
  const int socket_;
};

TEST(LookingAheadOnThreads, TheSettingIsChangedWhileTheyWork) {
  store::MemoryDatabase database;
  store::add_user_table(database, rows);
  std::atomic<std::uint64_t> told = 0;
  RunnerConfig config;
  config.session.writable = true;
  CounterSet counters;
  const std::vector<passes::MakeProtocol> protocols{handlersocket(config)};
  net::ServerConfig places;
  places.crews.front().workers = 2;
  places.ports.push_back({.port = "0", .protocol = "HandlerSocket", .counters = &counters});
  const auto make_store = [&](ThreadCounters& of_thread) {
    return std::make_unique<WatchingStore>(
        std::make_unique<store::MemoryStore>(database, store::Access::read, of_thread.own()), told);
  };
  net::Server server{places,
                     {.make_worker =
                          [&](std::size_t /*crew*/, ThreadCounters& of_thread) {
                            return std::make_unique<passes::PassRunner>(
                                config, make_store(of_thread), protocols, of_thread.blocks());
                          },
                      .make_streamer =
                          [&](std::size_t /*crew*/, net::Role, ThreadCounters& of_thread) {
                            return std::make_unique<passes::StreamRunner>(
                                config, make_store(of_thread), protocols, of_thread.blocks());
                          }},
                     [](net::LogLevel, const std::string&) {}};
  ASSERT_TRUE(server.start());

  std::atomic<bool> is_over = false;
  std::thread setter([&] {
    for (bool on = true; !is_over; on = !on) {
      config.looks_ahead = on;
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  });
  std::array<std::thread, 4> threads;
  for (std::thread& thread : threads) {
    thread = std::thread([&] {
      Client client(server.bound_port());
      for (int round = 0; round < rounds; ++round) client.ask(round);
    });
  }
  for (std::thread& thread : threads) thread.join();
  is_over = true;
  setter.join();
  EXPECT_GT(told.load(), 0U);
}

}  // namespace
}  // namespace hs::handlersocket
