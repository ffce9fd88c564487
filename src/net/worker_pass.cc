
#include <algorithm>
#include <cassert>
#include <cstring>
#include <exception>
#include <new>
#include <utility>

#include "net/waiters.h"
#include "net/worker.h"

namespace hs::net {
namespace {

constexpr std::size_t turns_at_once = 1024;
// A kept rest up to this size is copied into the arena, in front of what is read next. So a
// connection that sends in small pieces needs no large buffer.
constexpr std::size_t small_rest = WaitingBytes::default_allowance;
constexpr std::size_t smallest_arena = std::size_t{1} << 20;
constexpr std::size_t discard_size = std::size_t{16} << 10;
// A larger buffer is not kept between passes.
constexpr std::size_t largest_kept_out = std::size_t{4} << 20;

std::uint64_t in_ns(std::chrono::seconds time) {
  return static_cast<std::uint64_t>(std::chrono::nanoseconds(time).count());
}

}  // namespace

Worker::Worker(Shared& shared, Crew& crew, Inbox& inbox)
    : shared_(shared),
      crew_(crew),
      inbox_(inbox),
      counters_(shared.counters_of_ports()),
      acceptor_(shared, crew, inbox, counters_),
      connections_(shared.config.idle_timeout, shared.config.log_in_timeout,
                   in_ns(shared.config.handshake_timeout)),
      spread_seen_(crew.balance.spread().number),
      arena_size_(std::max(smallest_arena, 2 * (shared.config.read_size + small_rest))),
      arena_(std::make_unique_for_overwrite<char[]>(arena_size_ + discard_size)) {
  turns_.reserve(turns_at_once);
  takers_.reserve(turns_at_once);
  crew.balance.join(inbox.number, counters_);
}

void Worker::run_pass() {
  turns_.clear();
  takers_.clear();
  arena_used_ = 0;
  gather();
  if (turns_.empty()) return;

  rested_ = false;
  out_.clear();
  if (!execute_pass()) return close_pass();
  settle_turns(Turns::all);
  app_->release();
  if (out_.capacity() > largest_kept_out) out_.free_memory();
}

// False if something was thrown.
bool Worker::execute_pass() {
  try {
    if (app_->read_first(turns_, out_)) {
      // These need not wait for the writes of the others.
      settle_turns(Turns::over);
      add_writes();
    }
    app_->end_pass(turns_, out_);
    return true;
  } catch (const std::exception&) {
    return false;
  }
}

// Executes the turns that were put off, and those that come meanwhile. This ends, because each
// connection comes once, or twice if its first turn is settled already.
void Worker::add_writes() {
  std::size_t first = 0;
  bool more = true;
  while (more) {
    app_->execute(turns_, first, out_);
    first = turns_.size();
    if (!app_->takes_more() || first >= turns_at_once) return;
    take_events(0);
    if (inbox_filled_) take_moved();
    gather();
    more = turns_.size() != first;
  }
}

// Settles the turns that have not been settled yet, or of these only those that are over. The turns
// that the pass had no room for come first in the next pass, also before turns of this pass that
// were settled sooner.
void Worker::settle_turns(Turns which) {
  const auto settle_those = [this, which](bool left_out) {
    for (std::size_t i = 0; i < turns_.size(); ++i) {
      const Turn& turn = turns_[i];
      if (takers_[i] == nullptr || turn.was_left_out() != left_out) continue;
      if (which == Turns::all || !turn.put_off) settle(*std::exchange(takers_[i], nullptr), turn);
    }
  };
  const auto queued = static_cast<std::ptrdiff_t>(ready_.size());
  settle_those(true);
  std::rotate(ready_.begin(), ready_.begin() + queued, ready_.end());
  settle_those(false);
  note_latencies();
}

// The turns that were settled just now have handed their replies to the kernel.
void Worker::note_latencies() {
  pass_ended_ = kernel::monotonic_now();
  for (std::size_t i = 0; i < turns_.size(); ++i) {
    if (takers_[i] != nullptr) continue;
    const RequestCounts answered = std::exchange(turns_[i].answered, {});
    counters_.of(turns_[i].port).latencies.add(answered, pass_ended_ - turns_[i].arrived_at);
  }
}

// The pass has thrown, and nobody knows which of its requests were executed. So its connections end
// without replies. The worker goes on with the others.
void Worker::close_pass() {
  for (Connection* const connection : takers_) {
    if (connection == nullptr) continue;
    connections_.set_state(*connection, Connection::State::waiting, now_);
    close(*connection);
  }
  out_.free_memory();
}

// Gives a turn to each connection that wants one, as long as there is room. None of them has a turn
// in this pass already: bytes that come during a turn are only noted, and looked at after it.
void Worker::gather() {
  const std::size_t waiting = ready_.size();
  std::size_t kept = 0;
  bool room = true;
  for (std::size_t i = 0; i < waiting; ++i) {
    Connection& connection = *ready_[i];
    room = room && turns_.size() < turns_at_once;
    if (room) {
      const bool drains = connection.state == Connection::State::draining;
      connections_.set_state(
          connection, drains ? Connection::State::lingering : Connection::State::waiting, now_);
      room = prepare(connection);
      if (room) continue;  // the connection may not exist any more
      connections_.set_state(connection, Connection::State::queued, now_);
    }
    ready_[kept++] = &connection;
  }
  ready_.erase(ready_.begin() + static_cast<std::ptrdiff_t>(kept),
               ready_.begin() + static_cast<std::ptrdiff_t>(waiting));
}

// Gives the connection a turn if it has input. False: this pass has no more room to read.
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
  // Two bytes more than may be kept (for CR and LF) are enough to see that the request is too
  // large.
  // The limit may have become lower since.
  const std::size_t most = std::max(kept, most_kept(connection));
  std::size_t room = std::min(shared_.config.read_size, most - kept + 2);
  char* begin = nullptr;
  if (in_arena) {
    if (arena_size_ - arena_used_ < kept + room) return false;
    begin = arena_.get() + arena_used_;
    if (kept != 0) std::memcpy(begin, connection.input.data(), kept);
    if (!connection.share.has_room(arena_used_ + kept + room)) [[unlikely]]
      room = room_without_charge(connection, {begin, kept + room});
  }
  const bool is_free = in_arena && room != 0;
  if (!is_free) {
    // The buffer grows in proportion to what the client has really sent.
    room = std::min(shared_.config.read_size, std::min(most - kept + 2, kept));
    if (!make_room(connection, room)) {
      connections_.set_state(connection, Connection::State::blocked, now_);
      return true;
    }
    begin = connection.input.data();
  }

  const Transfer read = connection.receive({begin + kept, room});
  connection.readable = !read.emptied;
  if (read.ended) connection.peer_done = true;
  if (read.result == Transfer::Result::would_block) {
    // A filter has read as much as it may at once, and nothing for the connection.
    if (connection.readable) enqueue(connection);
    return true;
  }
  if (read.result == Transfer::Result::wants_output) {
    begin_flushing(connection);
    return true;
  }
  // At an end of file the client has sent all: the connection held no complete request when it last
  // waited.
  if (read.result == Transfer::Result::failed || read.bytes == 0) {
    close(connection);
    return true;
  }
  counters_of(connection).add(Counter::bytes_received, read.bytes);
  connections_.mark_active(connection, now_);
  connection.eof = connection.peer_done && !connection.readable;
  const bool is_all = connection.received - connection.hello_size == kept + read.bytes;
  if (is_all && !greet(connection, {begin, kept + read.bytes})) [[unlikely]]
    return true;
  if (is_free) {
    arena_used_ += kept + read.bytes;
  } else {
    connection.input.advance(read.bytes);
  }
  add_turn(connection, {begin, kept + read.bytes});
  return true;
}

// How much to read while the waiting bytes are nearly used up. What would have to be kept could
// make other connections go, so only whole requests are read, or what is free of charge. 0: nothing
// without asking. `input` is the bytes that are kept, and room for more behind them.
std::size_t Worker::room_without_charge(Connection& connection, std::span<char> input) {
  const std::size_t kept = connection.input.size();
  const std::size_t there = kept + connection.peek(input.subspan(kept));
  if (there == kept) return 1;  // enough to see whether it is the end
  const std::size_t whole = connection.dialogue->whole_requests({input.data(), there});
  if (whole > kept) return whole - kept;
  const std::size_t free = shared_.waiting.allowance();
  return kept < free ? std::min(input.size(), free) - kept : 0;
}

// How many bytes of an incomplete request may be kept.
std::size_t Worker::most_kept(const Connection& connection) const {
  return std::min(shared_.config.max_request_size.get(), connection.dialogue->most_waiting);
}

// Gets memory for `room` more bytes of the input. False: there is none at the moment.
bool Worker::make_room(Connection& connection, std::size_t room) {
  Buffer& input = connection.input;
  const std::size_t wanted = input.size() + room;
  if (wanted <= input.capacity()) return true;
  // The last step goes to the maximum, so that the buffer is not moved again for a few bytes.
  const std::size_t largest = most_kept(connection) + 2;
  const std::size_t doubled = 2 * input.capacity();
  const std::size_t capacity = std::max(wanted, doubled > largest / 2 ? largest : doubled);
  if (!connection.share.grow(input.cost_of(capacity))) return false;
  input.set_capacity(capacity);
  connection.recount();
  return true;
}

void Worker::add_turn(Connection& connection, std::string_view input) {
  connections_.set_state(connection, Connection::State::in_pass, now_);
  takers_.push_back(&connection);
  Turn& turn = turns_.emplace_back();
  turn.dialogue = connection.dialogue.get();
  turn.port = connection.port->number;
  turn.peer = &connection.peer;
  turn.input = input;
  turn.scanned = connection.scanned;
  turn.noted = connection.noted;
  turn.blocked_since = connection.blocked_since;
  turn.arrived_at = connection.arrived_at;
  turn.deadline = connection.deadline;
  turn.oversized = connection.oversized;
  turn.in_line = connection.next == Next::in_line;
  turn.peer_done = connection.peer_done;
}

void Worker::settle(Connection& connection, const Turn& turn) {
  assert(turn.consumed <= turn.input.size());
  connections_.set_state(connection, Connection::State::waiting, now_);
  connection.next = turn.next;
  connection.deadline = turn.deadline;
  connection.note_blocked(turn, now_);
  connection.note_answered(turn.answered);
  note_away(connection, turn.answered);
  if (turn.consumed != 0) connection.oversized = false;
  try {
    if (turn.input.data() == connection.input.data()) {
      connection.consume(turn.consumed);
    } else {
      connection.keep(turn.input.substr(turn.consumed), turn.consumed != 0);
      hide_secret(turn);  // what is left of it in the arena
    }
    if (!connection.recount()) return shed(connection);
    // Whoever was answered as late has not looked at what stands behind that request.
    const bool was_scanned = turn.next == Next::wait && !turn.on_remote_thread;
    connection.scanned = was_scanned ? connection.input.size() : 0;
    connection.noted = was_scanned ? turn.note : 0;
    if (turn.reply_begin == turn.reply_end ||
        send_replies(connection, out_.view(turn.reply_begin, turn.reply_end))) {
      proceed(connection);
    }
  } catch (const std::bad_alloc&) {
    close(connection);
  }
}

// True if everything is sent. Otherwise the connection is flushing or lingering, or it is closed.
bool Worker::send_replies(Connection& connection, std::string_view replies) {
  const Transfer sent = connection.send(replies);
  if (sent.result == Transfer::Result::failed) {
    close(connection);
    return false;
  }
  counters_of(connection).add(Counter::bytes_sent, sent.bytes);
  if (sent.bytes == replies.size()) return true;
  const std::string_view unsent = replies.substr(sent.bytes);
  if (unsent.size() > connection.dialogue->most_waiting) {
    linger(connection);
    return false;
  }
  connection.output.append(unsent);
  connection.output_sent = 0;
  if (!connection.recount()) {
    shed(connection);
    return false;
  }
  begin_flushing(connection);
  return false;
}

void Worker::begin_flushing(Connection& connection) {
  connections_.set_state(connection, Connection::State::flushing, now_);
  // If there is room already, epoll reports that as an event.
  watch_output(connection, true);
}

void Worker::flush(Connection& connection) {
  if (connection.output.empty()) {
    // The filter can read on.
    watch_output(connection, false);
    connections_.set_state(connection, Connection::State::waiting, now_);
    return enqueue(connection);
  }
  const Transfer sent = connection.send(connection.output.view().substr(connection.output_sent));
  if (sent.result == Transfer::Result::would_block) return;
  if (sent.result == Transfer::Result::failed) return close(connection);
  counters_of(connection).add(Counter::bytes_sent, sent.bytes);
  connections_.mark_active(connection, now_);
  connection.output_sent += sent.bytes;
  if (connection.output_sent < connection.output.size()) return;
  connection.output.free_memory();
  connection.recount();
  watch_output(connection, false);
  connections_.set_state(connection, Connection::State::waiting, now_);
  proceed(connection);
}

// The connection is in state `waiting`, and its replies are sent: does what the application said
// last.
void Worker::proceed(Connection& connection) {
  switch (connection.next) {
    case Next::wait:
      if (connection.input.size() > most_kept(connection)) {
        // The application has been told that the input is too large, and still asks for more.
        if (connection.oversized) return linger(connection);
        connection.oversized = connection.due = true;
        return enqueue(connection);
      }
      if (connection.eof) return close(connection);
      if (go_home(connection)) return;
      if (connection.readable) enqueue(connection);
      return;
    case Next::again: connection.due = true; return enqueue(connection);
    case Next::retry: return connections_.set_state(connection, Connection::State::blocked, now_);
    case Next::queue:
    case Next::in_line:
      if (hand_to_waiter(connection)) return;
      return connections_.set_state(connection, Connection::State::blocked, now_);
    case Next::stream: hand_over(connection, Role::streamer); return;
    case Next::write: return hand_to_writers(connection);
    case Next::log_in: hand_over(connection, Role::log_in); return;
    case Next::remote: hand_over(connection, Role::remote); return;
    case Next::close: return linger(connection);
  }
}

// The connection must be waiting or lingering.
void Worker::enqueue(Connection& connection) {
  const bool lingers = connection.state == Connection::State::lingering;
  // Who wants a turn on the input that it has waits since that has come.
  if (!connection.due) connection.arrived_at = now_;
  connections_.set_state(connection,
                         lingers ? Connection::State::draining : Connection::State::queued, now_);
  ready_.push_back(&connection);
}

void Worker::watch_output(Connection& connection, bool on) {
  const std::uint32_t output = on ? std::uint32_t{EPOLLOUT} : 0;
  epoll_event event{.events = EPOLLIN | EPOLLRDHUP | EPOLLET | output,
                    .data = {.ptr = static_cast<Source*>(&connection)}};
  // Cannot fail: the socket is in the set, and changing that takes no memory.
  [[maybe_unused]] const int result =
      kernel::epoll_ctl(epoll_.get(), EPOLL_CTL_MOD, connection.socket.get(), &event);
  assert(result == 0);
}

// The connection, which is in state `waiting`, waits for a carrier. False: there is none, or no memory
// that could be lent, and the connection ends.
bool Worker::hand_over(Connection& connection, Role carrier) {
  if (!connection.share.lend()) {
    shed(connection);
    return false;
  }
  connection.user = connection.dialogue->user();
  connections_.set_state(connection, carrier_of(carrier).state, now_);
  if (connection.deadline != 0) [[unlikely]]
    next_deadline_ = std::min(next_deadline_, connection.deadline);
  if (crew_.queue_of(carrier).push(connection)) return true;
  connections_.set_state(connection, Connection::State::waiting, now_);
  linger(connection);
  return false;
}

// The next request of the connection, which is in state `waiting`, waits for a lock. False: no
// waiter can be had at the moment.
bool Worker::hand_to_waiter(Connection& connection) {
  using Otherwise = Waiters::Otherwise;
  if (crew_.waiters == nullptr) return false;
  if (!crew_.waiters->reserve(connection.next == Next::queue ? Otherwise::asks : Otherwise::waits))
    return false;
  if (!hand_over(connection, Role::waiter)) crew_.queue_of(Role::waiter).cancel_reservation();
  return true;
}

// Shuts down the sending side and waits, for a bounded time, until the client does the same. If the
// socket were closed while bytes are unread, the connection would be reset, and the client might
// never see its last replies.
void Worker::linger(Connection& connection) {
  connection.dialogue.reset();
  connection.end_filter();
  connection.input.free_memory();
  connection.recount();
  if (connection.eof || kernel::shutdown(connection.socket.get(), SHUT_WR) != 0)
    return close(connection);
  connections_.set_state(connection, Connection::State::lingering, now_);
  if (connection.readable) enqueue(connection);
}

void Worker::drain(Connection& connection) {
  const Transfer read = connection.receive({arena_.get() + arena_size_, discard_size});
  connection.readable = !read.emptied;
  if (read.result == Transfer::Result::would_block) return;
  connection.drained += read.bytes;
  if (read.result == Transfer::Result::failed || read.bytes == 0 ||
      (connection.peer_done && !connection.readable) ||
      connection.drained > shared_.config.max_request_size.get()) {
    return close(connection);
  }
  if (connection.readable) enqueue(connection);
}

}  // namespace hs::net
