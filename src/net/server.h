// Server: some ports with the crews that serve them.
//
// Owns the listening sockets, the worker threads (an event loop and the connections each) and the
// threads that carry what takes long. A crew is some workers with their carriers (net/crew.h). Ports
// that name the same crew share its workers, and so the passes and commits of these. start() and
// stop() are called from one thread of the host. Any thread may ask about connections and close them.
// Everything else happens on the threads that this class owns. Knows no protocol and no table.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/counters.h"
#include "base/setting.h"
#include "net/application.h"
#include "net/byte_filter.h"

namespace hs::net {

class WaitingBytes;

// A port is known by its number among those of its server.
struct PortConfig {
  std::string port{};         // of TCP; empty: no TCP listener
  std::string socket_path{};  // empty: no Unix socket
  std::string protocol{};     // what its clients speak, for people
  // Counts what happens at the port. Never null, and outlives the server.
  CounterSet* counters = nullptr;
  // The crew that serves its connections, and the one whose workers execute their writes: by their
  // numbers among those of the server.
  std::size_t crew = 0;
  std::size_t writing_crew = 0;
};

struct CrewConfig {
  unsigned workers = 1;
  // Whether only as many workers serve as the load needs; see net/balance.h
  bool adapts = false;
  unsigned streamers = 1;
  unsigned handshakers = 1;
  unsigned log_in_threads = 0;  // 0: the application never says `log_in`
  unsigned remote_threads = 0;  // 0: the application never says `remote`
  // At most so many waiters at a time. 0: the application never says `queue` or `in_line`.
  unsigned waiters = 0;
};

struct ServerConfig {
  std::vector<PortConfig> ports;                               // one at least
  std::vector<CrewConfig> crews = std::vector<CrewConfig>(1);  // the same
  std::string address;  // numeric or name; empty: 127.0.0.1 (and ::1 where there is one)
  unsigned socket_mode = 0777;
  std::string socket_group;  // empty: the server's own
  int backlog = 32768;
  int send_buffer = 0;     // SO_SNDBUF in bytes; 0: the kernel's choice
  int receive_buffer = 0;  // SO_RCVBUF, the same
  Setting<std::chrono::seconds> idle_timeout{std::chrono::seconds(300)};  // 0: none
  // How long a find that cannot be parked waits in all.
  Setting<std::chrono::seconds> stream_patience{std::chrono::seconds(10)};
  // 0: none; see net/busy_poll.h
  Setting<std::chrono::microseconds> busy_poll{std::chrono::microseconds(30)};
  Setting<std::size_t> max_connections = 10'000;  // of each port
  // Those of one address at one port that have not logged in. One more is closed at once.
  Setting<std::size_t> max_strangers = 1000;
  // A client that has not logged in so long after it came is closed; 0: none.
  Setting<std::chrono::seconds> log_in_timeout{std::chrono::seconds(10)};
  Setting<std::size_t> max_request_size = std::size_t{64} << 20;
  // Counts the memory of the connections, and outlives the server. Null: the server has one of its
  // own.
  WaitingBytes* waiting = nullptr;
  // For clients that begin with a TLS handshake. Null: there is no TLS.
  FilterFactory filter;
  // How long a connection waits for a remote thread. Then Application::answer_late() answers it.
  Setting<std::chrono::milliseconds> remote_patience{std::chrono::seconds(5)};
  std::chrono::seconds handshake_timeout{10};
  // Whether a TCP client has to speak TLS; called when it sends its first bytes. Null: no.
  std::function<bool()> plain_is_refused;
  // At most so many bytes are read from one connection in one pass.
  std::size_t read_size = std::size_t{64} << 10;
};

// What a thread is for. All but workers are carriers, see net/carrier.h.
enum class Role : std::uint8_t { worker, streamer, log_in, remote, waiter, handshaker };

// Makes the application object of one thread of a crew, and is called on that thread. The counters
// belong to that thread alone and outlive the application. Null: the host shuts down before it has
// started, and the thread ends without a word. What it throws is logged.
struct ApplicationFactory {
  std::function<std::unique_ptr<WorkerApplication>(std::size_t crew, ThreadCounters& counters)>
      make_worker;
  // `role` is that of a carrier which is a streamer.
  std::function<std::unique_ptr<StreamerApplication>(std::size_t crew, Role role,
                                                     ThreadCounters& counters)>
      make_streamer;
};

// error: something that the configuration asks for is not served, or a thread has left.
enum class LogLevel : std::uint8_t { warning, error };

// The port that a text names; 0 is any free one. None if the text is no number up to 65535.
std::optional<unsigned> port_number(std::string_view text);

// The permissions of a file that an octal number means, "0660" for example. None if the text is no
// such number up to 0777.
std::optional<unsigned> file_mode(std::string_view text);

// A line for the host's log. Any thread.
using LogFunction = std::function<void(LogLevel level, const std::string& line)>;

// A connection as it was a moment ago.
struct ConnectionInfo {
  std::uint64_t id = 0;    // of no other connection as long as the process runs; never 0
  std::size_t port = 0;    // through which its client has come
  std::string peer;        // "127.0.0.1:40000", "[::1]:40000" or "unix"
  std::string user;        // as whom the client acts; empty: as nobody
  std::string_view state;  // a state of net/connection_state.h
  std::chrono::nanoseconds age{0};
  std::chrono::nanoseconds idle{0};  // since it last did something; precise to 0.1 s
  std::uint64_t received = 0;        // bytes in all
  std::uint64_t sent = 0;            // bytes in all
  std::uint64_t requests = 0;        // that were answered and have a kind (base/latency.h)
  std::string_view last_request;     // the kind of the last one; empty: none yet
  std::size_t waiting_bytes = 0;     // what it holds of the budget (net/waiting_bytes.h)
  std::string_view tls;  // what its byte filter speaks, "TLSv1.3" for example; empty: none
};

struct ConnectionList {
  std::vector<ConnectionInfo> connections;
  bool is_complete = false;  // false: a worker gave no answer, so its connections are missing
};

struct ReportList {
  std::vector<std::unique_ptr<Report>> reports;  // of the workers that have something to tell
  bool is_complete = false;                      // the same
};

// The answer to the wish that a connection is closed.
enum class Closing : std::uint8_t {
  begun,       // it ends soon; if a streamer executes a write for it, when that is over
  unknown,     // there is no such connection (any more)
  unanswered,  // a worker gave no answer in time, but may still close it
};

class Server {
 public:
  Server(ServerConfig config, ApplicationFactory factory, LogFunction log);
  ~Server();  // stops
  Server(const Server&) = delete;
  Server& operator=(const Server&) = delete;

  // Opens the listeners and starts the threads; may be called once. Logs an error for each listener
  // that cannot be opened, and serves the others. If there is none, or if something else fails, it
  // leaves nothing open and returns false. Does not wait for the applications' start(), which may
  // wait for the host. If no worker is left that serves, the listeners are closed.
  bool start();

  // Where start() has made a port listen: numeric addresses with their ports, and paths of Unix
  // sockets. The list stays as it is, even if no worker is left that serves.
  const std::vector<std::string>& places(std::size_t port = 0) const;

  // Closes the listeners and every connection (each client gets an end of file) and joins the
  // threads. It does not wait for any client, so it takes a bounded time.
  void stop();

  // For tests: the connections of each crew are spread over so many workers from now on.
  void set_spread(unsigned workers);

  // Any thread, one at a time: its members of type Setting may be changed while the server works.
  ServerConfig& config();

  std::size_t connections() const;  // of all ports

  // Any thread but the server's own, also while start() or stop() runs. Each asks the workers and
  // waits for their answers, but not longer than `patience`: a worker that waits for a commit
  // answers late.
  ConnectionList describe_connections(std::chrono::milliseconds patience) const;
  ReportList ask_applications(std::chrono::milliseconds patience) const;
  // The client reads an end of file, perhaps in the middle of a reply. What it has sent may have
  // been executed or not.
  Closing close_connection(std::uint64_t id, std::chrono::milliseconds patience);

  // The number of TCP that a port has bound (useful with port "0"); 0 if there is none.
  unsigned bound_port(std::size_t port = 0) const;

 private:
  class Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace hs::net
