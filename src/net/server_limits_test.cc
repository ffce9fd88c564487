// What bounds a server, where it listens, and how it ends.
#include <grp.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <unistd.h>

#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "net/server.h"
#include "net/test_support.h"

namespace hs::net::test {
namespace {

namespace fs = std::filesystem;

// A folder of its own for each test, deleted afterwards.
class UnixSocket : public testing::Test {
 protected:
  UnixSocket() {
    std::string name = (fs::temp_directory_path() / "hs_net_XXXXXX").string();
    if (::mkdtemp(name.data()) != nullptr) folder_ = name;
    config_.ports.push_back({.socket_path = path(), .protocol = "lines"});
  }
  ~UnixSocket() override { fs::remove_all(folder_); }
  std::string path() const { return (folder_ / "socket").string(); }

  // Leaves a socket file behind, as a process that was killed does.
  Descriptor bind_at_path() const {
    Descriptor socket(::socket(AF_UNIX, SOCK_STREAM, 0));
    sockaddr_un address{};
    address.sun_family = AF_UNIX;
    std::memcpy(address.sun_path, path().data(), path().size());
    EXPECT_EQ(::bind(socket.get(), reinterpret_cast<sockaddr*>(&address), sizeof address), 0);
    return socket;
  }

  ServerConfig config_;
  fs::path folder_;
};

TEST_F(UnixSocket, ServesAndIsGoneAfterwards) {
  Fixture fixture(config_);
  ASSERT_TRUE(fixture.start());
  EXPECT_EQ(fixture.server.bound_port(), 0U);
  Client client = Client::unix_socket(path());
  ASSERT_TRUE(client.send("hello\nbig 3000000\n"));
  EXPECT_EQ(client.line(), "hello");
  EXPECT_EQ(client.line().size(), 3'000'000U);
  fixture.server.stop();
  EXPECT_EQ(client.rest(), "");
  EXPECT_FALSE(fs::exists(path()));
}

TEST_F(UnixSocket, TakesTheNameOfADeadOne) {
  bind_at_path().close();
  ASSERT_TRUE(fs::is_socket(path()));
  Fixture fixture(config_);
  ASSERT_TRUE(fixture.start());
  Client client = Client::unix_socket(path());
  ASSERT_TRUE(client.send("hello\n"));
  EXPECT_EQ(client.line(), "hello");
}

TEST_F(UnixSocket, LeavesTheNameOfALiveOne) {
  const Descriptor other = bind_at_path();
  ASSERT_EQ(::listen(other.get(), 1), 0);
  Fixture fixture(config_);
  EXPECT_FALSE(fixture.start());
  EXPECT_TRUE(fixture.log.contains("handlersocket: cannot listen on " + path() +
                                   ": Address already in use"));
  EXPECT_TRUE(fs::is_socket(path()));
}

TEST_F(UnixSocket, LeavesAFileThatIsNoSocket) {
  std::ofstream(path()) << "precious";
  Fixture fixture(config_);
  EXPECT_FALSE(fixture.start());
  EXPECT_TRUE(fs::is_regular_file(path()));
  EXPECT_EQ(fs::file_size(path()), 8U);
}

TEST_F(UnixSocket, LeavesAFileThatTookItsPlace) {
  Fixture fixture(config_);
  ASSERT_TRUE(fixture.start());
  fs::remove(path());
  std::ofstream(path()) << "precious";
  fixture.server.stop();
  EXPECT_TRUE(fs::is_regular_file(path()));
}

TEST_F(UnixSocket, SaysWhatIsWrongWithAPath) {
  config_.ports[0].socket_path = (folder_ / "nowhere" / "socket").string();
  Fixture missing(config_);
  EXPECT_FALSE(missing.start());
  EXPECT_TRUE(missing.log.contains("No such file or directory"));

  config_.ports[0].socket_path = path() + std::string(200, 'x');
  Fixture too_long(config_);
  EXPECT_FALSE(too_long.start());
  EXPECT_TRUE(too_long.log.contains("a socket's path has at most 107 bytes"));
}

TEST_F(UnixSocket, HasTheModeAndTheGroupThatAreSet) {
  // Only root can choose any group.
  const group* const chosen = ::geteuid() == 0 ? ::getgrnam("nogroup") : ::getgrgid(::getegid());
  ASSERT_NE(chosen, nullptr);
  const gid_t number = chosen->gr_gid;
  config_.socket_mode = 0620;
  config_.socket_group = chosen->gr_name;
  Fixture fixture(config_);
  ASSERT_TRUE(fixture.start());
  struct stat file {};
  ASSERT_EQ(::stat(path().c_str(), &file), 0);
  EXPECT_EQ(file.st_mode & 07777, 0620U);
  EXPECT_EQ(file.st_gid, number);
}

TEST_F(UnixSocket, IsLeftOutIfItsGroupDoesNotExist) {
  config_.socket_group = "no such group";
  Fixture fixture(config_);
  EXPECT_FALSE(fixture.start());
  EXPECT_TRUE(fixture.log.contains("there is no group no such group"));
  EXPECT_FALSE(fs::exists(path()));
}

TEST(Listening, ReadsAFileModeAsOctal) {
  EXPECT_EQ(file_mode("0660"), 0660U);
  EXPECT_EQ(file_mode("777"), 0777U);
  EXPECT_EQ(file_mode("0"), 0U);
  for (const char* text : {"", "1777", "0888", "660 ", "-1", "0x1", "rw"})
    EXPECT_FALSE(file_mode(text)) << text;
}

TEST_F(UnixSocket, StandsBesideTcp) {
  config_.ports[0].port = std::string("0");
  Fixture fixture(config_);
  ASSERT_TRUE(fixture.start());
  Client one = Client::unix_socket(path());
  Client two = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(one.send("one\n"));
  ASSERT_TRUE(two.send("two\n"));
  EXPECT_EQ(one.line(), "one");
  EXPECT_EQ(two.line(), "two");
}

TEST_F(UnixSocket, IsLeftOutWhereItCannotBe) {
  config_.ports[0].port = std::string("0");
  config_.ports[0].socket_path = path() + "/nowhere/at.sock";
  Fixture fixture(config_);
  ASSERT_TRUE(fixture.start());
  EXPECT_TRUE(fixture.log.contains("[error] handlersocket: cannot listen on " + path()));
  const std::string port = std::to_string(fixture.server.bound_port());
  const std::vector<std::string> places = fixture.server.places();
  ASSERT_FALSE(places.empty());
  EXPECT_EQ(places.front(), "127.0.0.1:" + port);
  EXPECT_TRUE(places.size() == 1 || (places.size() == 2 && places.back() == "[::1]:" + port));
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("one\n"));
  EXPECT_EQ(client.line(), "one");
}

// The last worker that leaves destroys the listeners, at a time that nobody outside knows.
TEST(Listening, SaysWhereEvenIfNoWorkerIsLeft) {
  Fixture fixture;
  fixture.board.can_start = false;
  ASSERT_TRUE(fixture.start());
  ASSERT_TRUE(eventually([&] { return !Client::tcp(fixture.server.bound_port()).connected(); }));
  EXPECT_FALSE(fixture.server.places().empty());
}

TEST(Listening, SaysThatAPortIsNoPort) {
  for (const char* port : {"99980", "65536", "-1", "+1", " 1", "1 ", "1x", "", "http"}) {
    ServerConfig config = Fixture::loopback();
    config.ports[0].port = std::string(port);
    Fixture fixture(config);
    EXPECT_FALSE(fixture.start()) << port;
    EXPECT_TRUE(config.ports[0].port.empty() || fixture.log.contains("a port is a number")) << port;
    EXPECT_TRUE(fixture.server.places().empty());
  }
}

TEST(Listening, SaysThatAPortIsTaken) {
  Fixture first;
  ASSERT_TRUE(first.start());
  ServerConfig config = Fixture::loopback();
  config.ports[0].port = std::to_string(first.server.bound_port());
  Fixture second(config);
  EXPECT_FALSE(second.start());
  EXPECT_TRUE(second.log.contains("[error] handlersocket: cannot listen on 127.0.0.1:" +
                                  config.ports[0].port + ": Address already in use"));
  EXPECT_EQ(second.board.started, 0U);
}

TEST(Listening, GivesItsPortBack) {
  ServerConfig config = Fixture::loopback();
  for (int i = 0; i < 3; ++i) {
    Fixture fixture(config);
    ASSERT_TRUE(fixture.start());
    config.ports[0].port = std::to_string(fixture.server.bound_port());
    Client client = Client::tcp(fixture.server.bound_port());
    ASSERT_TRUE(client.send("hello\n"));
    EXPECT_EQ(client.line(), "hello");
  }
}

TEST(Listening, SaysThatAnAddressIsNotItsOwn) {
  ServerConfig config = Fixture::loopback();
  config.address = "192.0.2.1";
  Fixture fixture(config);
  EXPECT_FALSE(fixture.start());
  EXPECT_TRUE(
      fixture.log.contains("cannot listen on 192.0.2.1:0: Cannot assign requested address"));
}

TEST(Limits, TurnsConnectionsAwayAtTheMost) {
  ServerConfig config = Fixture::loopback();
  config.max_connections = 2;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  Client first = Client::tcp(fixture.server.bound_port());
  Client second = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(first.send("hello\n") && second.send("hello\n"));
  EXPECT_EQ(first.line() + second.line(), "hellohello");
  Client third = Client::tcp(fixture.server.bound_port());
  EXPECT_EQ(third.line(), "<end>");
  EXPECT_EQ(fixture.count(Counter::connections_refused), 1U);
  EXPECT_EQ(fixture.server.connections(), 2U);

  first.close();
  ASSERT_TRUE(eventually([&] { return fixture.server.connections() == 1; }));
  Client fourth = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(fourth.send("hello\n"));
  EXPECT_EQ(fourth.line(), "hello");
}

TEST(Limits, ClosesWhoSaysNothing) {
  ServerConfig config = Fixture::loopback();
  config.idle_timeout = std::chrono::seconds(2);
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  const auto begin = std::chrono::steady_clock::now();
  Client silent = Client::tcp(fixture.server.bound_port());
  Client blocked = Client::tcp(fixture.server.bound_port());
  Client busy = Client::tcp(fixture.server.bound_port());
  Client not_reading = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(silent.send("incompl"));
  ASSERT_TRUE(blocked.send("gate\n"));
  ASSERT_TRUE(not_reading.send("big 50000000\n"));
  auto last = begin;
  while (last - begin < std::chrono::milliseconds(2500)) {
    last = std::chrono::steady_clock::now();
    ASSERT_TRUE(busy.send("hello\n"));
    ASSERT_EQ(busy.line(), "hello");
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
  }
  EXPECT_EQ(silent.line(), "<end>");
  EXPECT_TRUE(eventually([&] { return fixture.server.connections() == 2; }));
  EXPECT_LT(not_reading.rest().size(), 50'000'000U);
  fixture.board.gate_open = true;
  EXPECT_EQ(blocked.line(), "passed");
  EXPECT_EQ(busy.line(), "<end>");
  EXPECT_GE(std::chrono::steady_clock::now() - last, std::chrono::seconds(2));
}

TEST(Limits, WaitsForDescriptors) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client first = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(first.send("hello\n"));
  EXPECT_EQ(first.line(), "hello");

  // The lowest free number is the first that a lower limit forbids. The client itself needs one
  // more descriptor, so it is opened before.
  Client second = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(second.send("hello\n"));
  EXPECT_EQ(second.line(), "hello");
  rlimit limit{};
  ASSERT_EQ(::getrlimit(RLIMIT_NOFILE, &limit), 0);
  rlimit low = limit;
  const Descriptor lowest_free(::dup(0));
  low.rlim_cur = static_cast<rlim_t>(lowest_free.get()) + 2;
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &low), 0);
  Client waiting = Client::tcp(fixture.server.bound_port());
  const bool sent = waiting.send("late\n");
  const bool logged =
      eventually([&] { return fixture.log.contains("cannot accept connections for the moment"); });
  EXPECT_TRUE(first.send("still here\n"));
  EXPECT_EQ(first.line(), "still here");
  ASSERT_EQ(::setrlimit(RLIMIT_NOFILE, &limit), 0);
  EXPECT_TRUE(sent && logged);
  EXPECT_EQ(waiting.line(), "late");
}

TEST(Stopping, IsQuickUnderLoad) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().workers = 2;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  constexpr int count = 500;
  std::vector<Client> clients;
  clients.reserve(count);
  for (int i = 0; i < count; ++i) clients.push_back(Client::tcp(fixture.server.bound_port()));
  ASSERT_TRUE(clients[0].send("stream 1000000 100000\n"));
  ASSERT_TRUE(clients[1].send("gate\n"));
  ASSERT_TRUE(clients[2].send("big 50000000\n"));
  std::atomic<bool> go_on{true};
  std::atomic<int> strange{0};
  std::vector<std::thread> threads;
  for (const int share : {0, 1}) {
    threads.emplace_back([&, share] {
      while (go_on) {
        for (int i = 4 + share; i < count; i += 2) {
          if (!clients[static_cast<std::size_t>(i)].send("hello\n")) continue;
          const std::string line = clients[static_cast<std::size_t>(i)].line();
          if (line != "hello" && !line.starts_with('<')) ++strange;
        }
      }
    });
  }
  ASSERT_TRUE(eventually([&] {
    return fixture.board.streaming && fixture.board.requests > 5000 && fixture.board.gate_turns > 0;
  }));
  const auto begin = std::chrono::steady_clock::now();
  fixture.server.stop();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
  go_on = false;
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(strange, 0);
  EXPECT_EQ(fixture.server.connections(), 0U);
  EXPECT_EQ(fixture.count(Counter::connections_closed), std::uint64_t{count});
  EXPECT_EQ(fixture.board.dialogues, 0U);
  EXPECT_EQ(fixture.board.late_dialogues, 0U);
  EXPECT_EQ(fixture.board.strange_dialogues, 0U);
  EXPECT_EQ(fixture.board.started, 3U);
  EXPECT_EQ(fixture.board.stopped, 3U);
  EXPECT_EQ(clients[1].line(), "<end>");
  EXPECT_EQ(clients[3].line(), "<end>");
}

TEST(Stopping, IsAnEndOfFileEvenForBytesThatWereNotRead) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("hello\ngate\n"));
  EXPECT_EQ(client.line(), "hello");
  ASSERT_TRUE(eventually([&] { return fixture.board.gate_turns >= 1; }));
  ASSERT_TRUE(client.send("never read\n"));
  fixture.server.stop();
  EXPECT_EQ(client.line(), "<end>");
}

TEST(Stopping, OfOneWorkerLeavesTheOthers) {
  ServerConfig config = Fixture::loopback();
  config.crews.front().workers = 2;
  Fixture fixture(config);
  ASSERT_TRUE(fixture.start());
  std::vector<Client> clients;
  std::vector<std::string> workers;
  for (int i = 0; i < 10; ++i) {
    clients.push_back(Client::tcp(fixture.server.bound_port()));
    ASSERT_TRUE(clients.back().send("who\n"));
    workers.push_back(clients.back().line());
  }
  const std::string leaver = workers[0];
  fixture.board.leaver = std::stoul(leaver);
  EXPECT_EQ(clients[0].line(), "<end>");
  for (std::size_t i = 0; i < clients.size(); ++i) {
    if (workers[i] == leaver) continue;
    ASSERT_TRUE(clients[i].send("hello\n"));
    EXPECT_EQ(clients[i].line(), "hello");
  }
  for (int i = 0; i < 10; ++i) {
    Client client = Client::tcp(fixture.server.bound_port());
    ASSERT_TRUE(client.send("who\n"));
    EXPECT_NE(client.line(), leaver);
  }
}

TEST(Stopping, HappensWhenTheHostSaysSo) {
  Fixture fixture;
  ASSERT_TRUE(fixture.start());
  Client client = Client::tcp(fixture.server.bound_port());
  ASSERT_TRUE(client.send("hello\n"));
  EXPECT_EQ(client.line(), "hello");
  fixture.board.run_worker = false;
  EXPECT_EQ(client.line(), "<end>");
  EXPECT_TRUE(eventually([&] { return fixture.board.stopped == 1; }));
  EXPECT_EQ(fixture.board.late_dialogues, 0U);
  // No worker is left, so nobody listens.
  EXPECT_TRUE(eventually([&] { return !Client::tcp(fixture.server.bound_port()).connected(); }));
  fixture.board.run_streamer = false;
  EXPECT_TRUE(eventually([&] { return fixture.board.stopped == 2; }));
}

TEST(Stopping, IsForGoodIfNoWorkerCanStart) {
  Fixture fixture;
  fixture.board.can_start = false;
  ASSERT_TRUE(fixture.start());  // does not wait for the threads
  EXPECT_TRUE(eventually([&] { return fixture.log.contains("a worker could not start"); }));
  EXPECT_TRUE(eventually([&] { return !Client::tcp(fixture.server.bound_port()).connected(); }));
}

// The host says why it does.
TEST(Stopping, IsSilentIfTheHostShutsDownBeforeItHasStarted) {
  Fixture fixture;
  fixture.board.host_shuts_down = true;
  ASSERT_TRUE(fixture.start());
  EXPECT_TRUE(eventually([&] { return !Client::tcp(fixture.server.bound_port()).connected(); }));
  fixture.server.stop();
  EXPECT_FALSE(fixture.log.contains("handlersocket"));
}

TEST(Stopping, TellsWhyAThreadCannotBeMade) {
  Fixture fixture;
  fixture.board.cannot_be_made = true;
  ASSERT_TRUE(fixture.start());
  for (const char* const thread : {"worker", "streamer"}) {
    const std::string line =
        "[error] handlersocket: a " + std::string(thread) + " could not start: no memory";
    EXPECT_TRUE(eventually([&] { return fixture.log.contains(line); })) << line;
  }
  EXPECT_TRUE(eventually([&] { return !Client::tcp(fixture.server.bound_port()).connected(); }));
}

}  // namespace
}  // namespace hs::net::test
