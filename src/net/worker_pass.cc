#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cassert>
#include <cstring>
#include <new>

#include "net/worker.h"

namespace hs::net {
namespace {

constexpr std::size_t turns_at_once = 1024;
// A kept rest up to this size is copied in front of what is read next, into the
// arena, so that a connection that sends in small pieces needs no large buffer.
constexpr std::size_t small_rest = 4096;
constexpr std::size_t smallest_arena = std::size_t{1} << 20;
constexpr std::size_t discard_size = std::size_t{16} << 10;
// More than this is not kept between passes.
constexpr std::size_t largest_kept_out = std::size_t{4} << 20;

std::uint64_t in_ns(std::chrono::seconds time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}

}  // namespace

Worker::Worker(Shared& shared, Inbox& inbox, CounterBlock& counters)
    : shared_(shared),
      inbox_(inbox),
      counters_(counters),
      acceptor_(shared, inbox, counters),
      connections_(in_ns(shared.config.idle_timeout)),
      arena_size_(std::max(smallest_arena, 2 * (shared.config.read_size + small_rest))),
      arena_(std::make_unique_for_overwrite<char[]>(arena_size_ + discard_size)) {
  turns_.reserve(turns_at_once);
  takers_.reserve(turns_at_once);
}

void Worker::run_pass() {
  turns_.clear();
  takers_.clear();
  arena_used_ = 0;
  gather();
  if (turns_.empty()) return;

  rested_ = false;
  out_.clear();
  app_->execute(turns_, 0, out_);
  // Each connection has one turn, so this ends.
  while (app_->takes_more() && turns_.size() < turns_at_once) {
    const std::size_t executed = turns_.size();
    take_events(0);
    gather();
    if (turns_.size() == executed) break;
    app_->execute(turns_, executed, out_);
  }
  app_->end_pass(turns_, out_);
  for (std::size_t i = 0; i < turns_.size(); ++i) settle(*takers_[i], turns_[i]);
  app_->release();
  if (out_.capacity() > largest_kept_out) out_.release();
}

// Gives a turn to whoever wants one and has none in this pass, as long as there is room.
void Worker::gather() {
  const std::size_t waiting = ready_.size();
  std::size_t kept = 0;
  bool room = true;
  for (std::size_t i = 0; i < waiting; ++i) {
    Connection& connection = *ready_[i];
    room = room && turns_.size() < turns_at_once;
    if (room && !connection.in_pass) {
      connection.queued = false;
      room = prepare(connection);
      if (room) continue;  // it may be gone by now
      connection.queued = true;
    }
    ready_[kept++] = &connection;
  }
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(kept),
               ready_.begin() + static_cast<std::ptrdiff_t>(waiting));
}

// Gives the connection a turn if it has something to say. False: there is no
// room to read, in this pass.
bool Worker::prepare(Connection& connection) {
  if (connection.state == Connection::State::lingering) {
    drain(connection);
    return true;
  }
  if (connection.due) {
    connection.due = false;
    add_turn(connection, connection.input.view());
    return true;
  }
  try {
    return receive(connection);
  } catch (const std::bad_alloc&) {
    close(connection);
    return true;
  }
}

bool Worker::receive(Connection& connection) {
  const std::size_t kept = connection.input.size();
  const bool in_arena = kept <= small_rest;
  std::size_t room = shared_.config.read_size;
  char* begin = nullptr;
  if (in_arena) {
    if (arena_size_ - arena_used_ < kept + room) return false;
    begin = arena_.get() + arena_used_;
    if (kept != 0) std::memcpy(begin, connection.input.data(), kept);
  } else {
    // Memory in proportion to what the client really sent.
    room = std::min(room, kept);
    begin = connection.input.reserve(room) - kept;
  }

  const Transfer read = connection.receive({begin + kept, room});
  if (read.result == Transfer::Result::would_block) {
    connection.readable = false;
    return true;
  }
  // End of file: nothing complete was left when the connection last waited.
  if (read.result == Transfer::Result::failed || read.bytes == 0) {
    close(connection);
    return true;
  }
  counters_.add(Counter::bytes_received, read.bytes);
  connections_.mark_active(connection, now_);
  // A read that does not fill its room has emptied the socket.
  connection.readable = read.bytes == room;
  connection.eof = connection.peer_done && !connection.readable;
  if (in_arena) {
    arena_used_ += kept + read.bytes;
  } else {
    connection.input.advance(read.bytes);
  }
  add_turn(connection, {begin, kept + read.bytes});
  return true;
}

void Worker::add_turn(Connection& connection, std::string_view input) {
  connection.in_pass = true;
  takers_.push_back(&connection);
  Turn& turn = turns_.emplace_back();
  turn.dialogue = connection.dialogue.get();
  turn.input = input;
  turn.scanned = connection.scanned;
  turn.blocked_since = connection.blocked_since;
  turn.oversized = connection.oversized;
}

void Worker::settle(Connection& connection, const Turn& turn) {
  assert(turn.consumed <= turn.input.size());
  connection.in_pass = false;
  connection.next = turn.next;
  connection.note_blocked(turn, now_);
  if (turn.consumed != 0) connection.oversized = false;
  try {
    if (turn.input.data() == connection.input.data()) {
      connection.consume(turn.consumed);
    } else {
      connection.keep(turn.input.substr(turn.consumed), turn.consumed != 0);
    }
    connection.scanned = turn.next == Next::wait ? connection.input.size() : 0;
    if (turn.reply_begin == turn.reply_end ||
        send_replies(connection, out_.view(turn.reply_begin, turn.reply_end))) {
      proceed(connection);
    }
  } catch (const std::bad_alloc&) {
    close(connection);
  }
}

// True if all is sent. Otherwise the connection is flushing, or closed.
bool Worker::send_replies(Connection& connection, std::string_view replies) {
  const Transfer sent = connection.send(replies);
  if (sent.result == Transfer::Result::failed) {
    close(connection);
    return false;
  }
  counters_.add(Counter::bytes_sent, sent.bytes);
  if (sent.bytes == replies.size()) return true;
  connection.output.append(replies.substr(sent.bytes));
  connection.output_sent = 0;
  connections_.set_state(connection, Connection::State::flushing, now_);
  watch_output(connection, true);
  return false;
}

void Worker::flush(Connection& connection) {
  const Transfer sent = connection.send(connection.output.view().substr(connection.output_sent));
  if (sent.result == Transfer::Result::would_block) return;
  if (sent.result == Transfer::Result::failed) return close(connection);
  counters_.add(Counter::bytes_sent, sent.bytes);
  connections_.mark_active(connection, now_);
  connection.output_sent += sent.bytes;
  if (connection.output_sent < connection.output.size()) return;
  connection.output.release();
  watch_output(connection, false);
  connections_.set_state(connection, Connection::State::open, now_);
  proceed(connection);
}

// Replies are on their way: does what the application said last.
void Worker::proceed(Connection& connection) {
  switch (connection.next) {
    case Next::wait:
      if (connection.input.size() > shared_.config.max_request_size) {
        // The application has been told already and still wants more: not from us.
        if (connection.oversized) return linger(connection);
        connection.oversized = connection.due = true;
        return enqueue(connection);
      }
      if (connection.eof) return close(connection);
      if (connection.readable) enqueue(connection);
      return;
    case Next::again: connection.due = true; return enqueue(connection);
    case Next::retry: return connections_.set_state(connection, Connection::State::blocked, now_);
    case Next::stream: return start_stream(connection);
    case Next::close: return linger(connection);
  }
}

void Worker::enqueue(Connection& connection) {
  if (connection.queued) return;
  connection.queued = true;
  ready_.push_back(&connection);
}

void Worker::watch_output(Connection& connection, bool on) {
  const std::uint32_t output = on ? std::uint32_t{EPOLLOUT} : 0;
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET | output,
                    .data = {.ptr = static_cast<Source*>(&connection)}};
  // Cannot fail: the socket is in the set, and changing that takes no memory.
  [[maybe_unused]] const int result =
      ::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
  assert(result == 0);
}

void Worker::start_stream(Connection& connection) {
  connections_.set_state(connection, Connection::State::streaming, now_);
  if (!shared_.streams.push(connection)) linger(connection);
}

// Says that there is nothing more to come and waits, for a bounded time, until
// the client has said so too: closing at once would reset the connection if
// bytes are still unread, and the client might never see its last replies.
void Worker::linger(Connection& connection) {
  connection.dialogue.reset();
  connection.input.release();
  if (connection.eof || ::shutdown(connection.socket.get(), SHUT_WR) != 0) return close(connection);
  connections_.set_state(connection, Connection::State::lingering, now_);
  if (connection.readable) enqueue(connection);
}

void Worker::drain(Connection& connection) {
  const Transfer read = connection.receive({arena_.get() + arena_size_, discard_size});
  if (read.result == Transfer::Result::would_block) {
    connection.readable = false;
    return;
  }
  connection.drained += read.bytes;
  connection.readable = read.bytes == discard_size;
  if (read.result == Transfer::Result::failed || read.bytes == 0 ||
      (connection.peer_done && !connection.readable) ||
      connection.drained > shared_.config.max_request_size) {
    return close(connection);
  }
  if (connection.readable) enqueue(connection);
}

}  // namespace hs::net
