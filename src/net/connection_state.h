// ConnectionState: what a connection is doing, and which change may follow which.
//
// A connection is in one state at a time, and the state says who may touch it:
//
//   waiting    its worker, which decides what comes next. It waits for bytes.
//   queued     its worker. It is in the list of those that want a turn.
//   in_pass    its worker. It has a turn in the pass at work.
//   flushing   its worker. The client does not take its replies, so nothing is read from it, and it
//              gets no turn.
//   blocked    its worker. Its next request met another session's lock, so nothing is read from
//              it, and it gets a turn when its delay is over.
//   streaming  a streamer, which carries its long find. The worker only notes events.
//   logging_in a log-in thread. The worker only notes events.
//   remote     a remote thread, which asks another server. The worker only notes events, and takes
//              it back if it waits too long for the thread.
//   lock_wait  a waiter, which executes its next request and waits for the row that another session
//              has locked. The worker only notes events.
//   greeting   its worker. Its handshake waits for the client.
//   shaking    a handshaker, which goes on with its handshake. The worker only notes events.
//   lingering  its worker. It is closed for sending; what still arrives is thrown away.
//   draining   its worker. It is lingering, and in the list of those that have bytes.
//
// Every change goes through `waiting`: whatever a connection has done, it comes back to `waiting`
// before it does something else. So it cannot be at a streamer and in a pass at once, nor twice in
// a list. There are two pairs of states that follow each other directly, because the time of their
// list counts from its beginning: greeting and shaking, lingering and draining. Only
// ConnectionLists changes a state, on the worker's thread. A change that may_follow()
// does not allow is a bug and stops a debug build. A connection may end in any state except
// in_pass, streaming, logging_in, remote, lock_wait and shaking, where somebody else still uses it.
#pragma once

#include <cstdint>
#include <string_view>

namespace hs::net {

enum class ConnectionState : std::uint8_t {
  waiting,
  queued,
  in_pass,
  flushing,
  blocked,
  streaming,
  logging_in,
  remote,
  lock_wait,
  greeting,
  shaking,
  lingering,
  draining,
};

constexpr bool may_follow(ConnectionState before, ConnectionState after) {
  using enum ConnectionState;
  switch (before) {
    case waiting: return after != waiting && after != shaking && after != draining;
    case queued:
    case in_pass:
    case flushing:
    case blocked:
    case streaming:
    case logging_in:
    case remote:
    case lock_wait: return after == waiting;
    case greeting: return after == shaking || after == waiting;
    case shaking: return after == greeting || after == waiting;
    case lingering: return after == draining;
    case draining: return after == lingering;
  }
  return false;
}

constexpr std::string_view name_of(ConnectionState state) {
  using enum ConnectionState;
  switch (state) {
    case waiting: return "waiting";
    case queued: return "queued";
    case in_pass: return "in pass";
    case flushing: return "flushing";
    case blocked: return "blocked";
    case streaming: return "streaming";
    case logging_in: return "log-in";
    case remote: return "remote";
    case lock_wait: return "lock wait";
    case greeting:
    case shaking: return "handshake";
    case lingering: return "lingering";
    case draining: return "draining";
  }
  return {};
}

// Whether the connection is in the worker's list of connections that have something to do.
constexpr bool is_listed_as_ready(ConnectionState state) {
  return state == ConnectionState::queued || state == ConnectionState::draining;
}

}  // namespace hs::net
