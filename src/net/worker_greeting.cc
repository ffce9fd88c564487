// A worker and its new clients: their first bytes, TLS handshakes, and who is sent away before its
// first request.
#include <new>
#include <string>

#include "net/worker.h"

namespace hs::net {

// Nothing that the client has sent was used yet, and `begin` is all of it. False: it is no request.
bool Worker::greet(Connection& connection, std::string_view begin) {
  // The first byte of a TLS record that begins a handshake. No request begins with it.
  constexpr char handshake_record = 0x16;
  if (connection.filter == nullptr) {
    if (begin.front() == handshake_record && shared_.config.filter != nullptr) {
      begin_handshake(connection, begin);
      return false;
    }
    const auto& is_refused = shared_.config.plain_is_refused;
    if (is_refused != nullptr && connection.peer.is_tcp() && is_refused()) [[unlikely]] {
      counters_of(connection).add(Counter::connections_refused_plain);
      refuse(connection, Refusal::needs_tls);
      return false;
    }
  }
  const std::string_view protocol = connection.dialogue->foreign_protocol(begin);
  if (protocol.empty()) [[likely]]
    return true;
  refuse_foreign(connection, protocol);
  return false;
}

void Worker::begin_handshake(Connection& connection, std::string_view begin) {
  connection.filter = shared_.config.filter(connection.socket.get(), begin);
  connection.hello_size = begin.size();
  connection.share.introduce(true);
  if (!connection.share.grow(connection.filter->memory())) {
    // Nobody could read a reply before the handshake is over.
    connection.filter.reset();
    counters_of(connection).add(Counter::connections_shed);
    return linger(connection);
  }
  connections_.set_state(connection, Connection::State::greeting, now_);
  shake_hands(connection);
}

// Hands a connection in state `greeting` to a handshaker.
void Worker::shake_hands(Connection& connection) {
  // The handshaker reads what is there.
  connection.readable = false;
  if (!connection.share.lend()) {
    connections_.set_state(connection, Connection::State::waiting, now_);
    return shed(connection);
  }
  connections_.set_state(connection, Connection::State::shaking, now_);
  if (crew_.queue_of(Role::handshaker).push(connection)) return;
  connections_.set_state(connection, Connection::State::waiting, now_);
  linger(connection);
}

// From a handshaker.
void Worker::take_handshake(Connection& connection) {
  using Progress = ByteFilter::Progress;
  const Progress progress = connection.broken ? Progress::failed : connection.progress;
  const bool is_over = progress == Progress::done || progress == Progress::failed ||
                       progress == Progress::unavailable;
  const bool is_late = progress != Progress::done && connections_.is_late(connection, now_);
  connections_.set_state(
      connection, is_over || is_late ? Connection::State::waiting : Connection::State::greeting,
      now_);
  if (progress == Progress::done) connection.tls = connection.filter->protocol();
  if (progress == Progress::unavailable) {
    connection.filter.reset();  // it has said nothing, so the client can be answered in plain bytes
    refuse_foreign(connection, "TLS, for which the server has no certificate,");
  } else if (progress == Progress::failed || is_late) {
    counters_of(connection).add(Counter::tls_handshakes_failed);
    linger(connection);
  } else if (connection.has_to_end.load(std::memory_order_relaxed)) {
    end(connection);
  } else if (!connection.recount()) {
    shed(connection);
  } else if (progress == Progress::done) {
    counters_of(connection).add(Counter::tls_handshakes);
    // The filter may have read what comes behind the handshake.
    enqueue(connection);
  } else if (progress == Progress::wants_output) {
    watch_output(connection, true);
  } else if (connection.readable) {
    shake_hands(connection);
  }
}

// The client would wait for an answer in its own protocol.
void Worker::refuse_foreign(Connection& connection, std::string_view protocol) {
  counters_of(connection).add(Counter::connections_foreign);
  warn_of(connection, connection.port->foreign_line, " speaks ", protocol);
  refuse(connection, Refusal::foreign);
}

// Too many clients of its address have not logged in.
void Worker::turn_away(Connection& connection) {
  counters_of(connection).add(Counter::connections_refused);
  counters_of(connection).add(Counter::connections_refused_address);
  close(connection);
}

// The connection has not logged in in time, or has sent nothing.
void Worker::end_late(Connection& connection) {
  const bool has_to_log_in = static_cast<bool>(connection.place);
  // Its first bytes may have come while this thread did something else.
  const bool is_silent = connection.received == 0 && connection.peek({arena_.get(), 1}) == 0;
  if (!is_silent && !has_to_log_in) return;
  counters_of(connection).add(has_to_log_in ? Counter::log_ins_late : Counter::connections_silent);
  if (is_silent) {
    warn_of(connection, connection.port->silent_line, " has sent nothing",
            " for handlersocket_log_in_timeout (a client of SQL waits like this to be greeted)");
  }
  end(connection);
}

void Worker::warn_of(Connection& connection, OnceAMinute& line, std::string_view does,
                     std::string_view what) {
  if (!line.is_due(now_)) return;
  try {
    const bool is_tcp = connection.peer.is_tcp();
    const PortConfig& config = connection.port->config;
    std::string text = "handlersocket: " + connection.peer.text();
    text.append(does).append(what).append(" and was disconnected from ");
    text += is_tcp ? "port " + config.port : config.socket_path;
    shared_.log_line(LogLevel::warning, text, ", which is a port of " + config.protocol);
  } catch (const std::bad_alloc&) {  // the line is not logged
  }
}

}  // namespace hs::net
