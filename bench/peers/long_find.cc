// hs-long-find PORT ROWS SERVER_PID: sends one find of many rows, while another connection sends
// lookups, one at a time. Prints what both measured, and the server's memory, as one line of JSON.
//
// It has one thread, so that its own scheduling does not delay the measurement. It looks at the
// socket of the lookups after every piece of the long reply. Its time is limited.
#include <poll.h>

#include <algorithm>
#include <charconv>
#include <chrono>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iostream>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "load/connect.h"
#include "load/options.h"

namespace {

using Clock = std::chrono::steady_clock;
using hs::bench::Socket;

constexpr int timeout_ms = 30'000;
constexpr std::chrono::seconds longest_run{60};
constexpr std::chrono::milliseconds between_looks{5};
// About as long as the find takes.
constexpr std::chrono::milliseconds alone{300};
constexpr std::size_t piece_size = std::size_t{256} << 10;
constexpr std::string_view open_index = "P\t1\ttest\tuser\tPRIMARY\tuser_name,user_email,created\n";
// A row in the middle of the demo's table.
constexpr std::string_view lookup = "1\t=\t1\t500000\n";

double milliseconds(Clock::duration time) {
  return std::chrono::duration<double, std::milli>(time).count();
}

// The process's own memory, without files that it maps. 0 if it cannot be read.
std::uint64_t own_memory_kib(const std::string& status_path) {
  std::ifstream status(status_path);
  std::string name;
  std::uint64_t value = 0;
  while (status >> name) {
    if (name == "RssAnon:" && status >> value) return value;
    status.ignore(1'000, '\n');
  }
  return 0;
}

bool send_whole(const Socket& socket, std::string_view bytes) {
  const ssize_t sent = ::send(socket.get(), bytes.data(), bytes.size(), MSG_NOSIGNAL);
  return sent == static_cast<ssize_t>(bytes.size());
}

// The bytes that have come, at most a piece. Nothing if the connection is over.
std::optional<std::string_view> receive(const Socket& socket, std::vector<char>& buffer) {
  const ssize_t got = ::recv(socket.get(), buffer.data(), buffer.size(), MSG_DONTWAIT);
  if (got < 0 && (errno == EAGAIN || errno == EINTR)) return std::string_view{};
  if (got <= 0) return std::nullopt;
  return std::string_view(buffer.data(), static_cast<std::size_t>(got));
}

// Sends a request with a short reply, and waits for the reply.
bool ask(const Socket& socket, std::string_view request, std::vector<char>& buffer) {
  if (!send_whole(socket, request)) return false;
  std::string reply;
  while (!reply.ends_with('\n')) {
    if (!hs::bench::wait_for(socket.get(), POLLIN, timeout_ms)) return false;
    const auto bytes = receive(socket, buffer);
    if (!bytes) return false;
    reply += *bytes;
  }
  return reply.starts_with("0\t");
}

class LongFind {
 public:
  LongFind(Socket find, Socket other, std::uint64_t rows, int pid)
      : find_(std::move(find)),
        other_(std::move(other)),
        request_("1\t>=\t1\t1\t" + std::to_string(rows) + "\n"),
        status_path_("/proc/" + std::to_string(pid) + "/status") {}

  // Returns what went wrong, or an empty text.
  std::string run() {
    if (!ask(find_, open_index, buffer_) || !ask(other_, open_index, buffer_) ||
        !ask(other_, lookup, buffer_)) {
      return "the server refused to open the table";
    }
    if (std::string wrong = look_up_alone(); !wrong.empty()) return wrong;
    memory_before_ = memory_peak_ = own_memory_kib(status_path_);
    if (!send_lookup()) return "cannot send";
    started_ = next_look_ = Clock::now();
    if (!send_whole(find_, request_)) return "cannot send";
    while (!ended_) {
      if (Clock::now() - started_ > longest_run) return "the find took too long";
      if (std::string wrong = turn(); !wrong.empty()) return wrong;
    }
    finished_ = Clock::now();
    look_at_memory();
    return {};
  }

  void print() const {
    std::cout << "{\"first_byte_ms\": " << milliseconds(first_byte_ - started_)
              << ", \"longest_wait_ms\": " << milliseconds(longest_wait_)
              << ", \"longest_wait_alone_ms\": " << milliseconds(longest_wait_alone_)
              << ", \"lookups\": " << lookups_
              << ", \"seconds\": " << milliseconds(finished_ - started_) / 1e3
              << ", \"bytes\": " << bytes_ << ", \"memory_before_kib\": " << memory_before_
              << ", \"memory_peak_kib\": " << memory_peak_ << "}\n";
  }

 private:
  bool send_lookup() {
    lookup_sent_ = Clock::now();
    return send_whole(other_, lookup);
  }

  void look_at_memory() { memory_peak_ = std::max(memory_peak_, own_memory_kib(status_path_)); }

  // Measures how long lookups wait on this machine while there is no find.
  std::string look_up_alone() {
    const auto end = Clock::now() + alone;
    while (Clock::now() < end) {
      const auto sent = Clock::now();
      if (!ask(other_, lookup, buffer_)) return "a lookup was refused";
      longest_wait_alone_ = std::max(longest_wait_alone_, Clock::now() - sent);
    }
    return {};
  }

  std::string turn() {
    pollfd sockets[] = {{.fd = other_.get(), .events = POLLIN, .revents = 0},
                        {.fd = find_.get(), .events = POLLIN, .revents = 0}};
    if (::poll(sockets, 2, timeout_ms) <= 0) return "the server does not answer";
    if (sockets[0].revents != 0) {
      const auto bytes = receive(other_, buffer_);
      if (!bytes) return "the server closed the connection of the lookups";
      // A reply of this size comes in one piece.
      if (bytes->ends_with('\n')) {
        longest_wait_ = std::max(longest_wait_, Clock::now() - lookup_sent_);
        ++lookups_;
        if (!bytes->starts_with("0\t3\t")) return "a lookup was refused";
        if (!send_lookup()) return "cannot send";
      }
    }
    if (sockets[1].revents != 0) {
      const auto bytes = receive(find_, buffer_);
      if (!bytes) return "the server closed the connection of the find";
      if (bytes->empty()) return {};
      if (bytes_ == 0) {
        first_byte_ = Clock::now();
        if (!bytes->starts_with('0')) return "the find was refused";
      }
      bytes_ += bytes->size();
      ended_ = bytes->ends_with('\n');
    }
    if (Clock::now() >= next_look_) {
      look_at_memory();
      next_look_ = Clock::now() + between_looks;
    }
    return {};
  }

  Socket find_;
  Socket other_;
  std::string request_;
  std::string status_path_;
  std::vector<char> buffer_ = std::vector<char>(piece_size);
  Clock::time_point started_;
  Clock::time_point first_byte_;
  Clock::time_point finished_;
  Clock::time_point lookup_sent_;
  Clock::time_point next_look_;
  Clock::duration longest_wait_{};
  Clock::duration longest_wait_alone_{};
  std::uint64_t lookups_ = 0;
  std::uint64_t bytes_ = 0;
  std::uint64_t memory_before_ = 0;
  std::uint64_t memory_peak_ = 0;
  bool ended_ = false;
};

template <typename Number>
bool parse(std::string_view text, Number& number) {
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size();
}

int run(int argc, char** argv) {
  hs::bench::Options options;
  std::uint64_t rows = 0;
  int pid = 0;
  if (argc != 4 || !parse(argv[1], options.port) || !parse(argv[2], rows) || !parse(argv[3], pid)) {
    std::cerr << "usage: hs-long-find PORT ROWS SERVER_PID\n";
    return 2;
  }
  auto address = hs::bench::Address::of(options);
  if (!address) return 2;
  Socket find = address->connect(timeout_ms);
  Socket other = address->connect(timeout_ms);
  if (!find.valid() || !other.valid()) {
    std::cerr << "error: cannot connect: " << address->error() << '\n';
    return 2;
  }
  LongFind long_find(std::move(find), std::move(other), rows, pid);
  if (const std::string wrong = long_find.run(); !wrong.empty()) {
    std::cerr << "error: " << wrong << '\n';
    return 1;
  }
  long_find.print();
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& error) {
    std::cerr << "error: " << error.what() << '\n';
    return 2;
  }
}
