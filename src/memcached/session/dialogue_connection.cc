// The requests about the connection and the server: log-ins, versions, statistics, and the end.
#include <charconv>
#include <chrono>
#include <utility>

#include "memcached/session/dialogue.h"
#include "memcached/session/memcached.h"
#include "passes/requests.h"

namespace hs::memcached {
namespace {

using net::Next;
using passes::LogIn;

// Writes statistics whose values are numbers or texts.
class Stats {
 public:
  Stats(const Request& request, Buffer& out) : request_(request), reply_(out) {}
  Stats& add(std::string_view name, std::string_view value) {
    reply_.stat(request_, name, value);
    return *this;
  }
  Stats& add(std::string_view name, std::uint64_t value) {
    return add(name, std::to_string(value));
  }
  void end() { reply_.end_of_stats(request_); }

 private:
  const Request& request_;
  Reply reply_;
};

std::uint64_t now_s() {
  const auto now = std::chrono::system_clock::now().time_since_epoch();
  return static_cast<std::uint64_t>(std::chrono::duration_cast<std::chrono::seconds>(now).count());
}

}  // namespace

// A try that may not be made now, or is answered later, is made again.
Dialogue::Done Dialogue::log_in(passes::Requests& requests, const Request& request,
                                Status& status) {
  Credentials credentials;
  if (!read_credentials(request, credentials)) {
    status = status_of(Mistake::bad_log_in);
    return Done::answered;
  }
  const LogIn::Way way = credentials.is_secret ? LogIn::Way::secret : LogIn::Way::account;
  if (!log_in_.may_try(way, requests)) return Done::later;
  LogIn::State next;
  status = status_of(Mistake::wrong_log_in);
  if (credentials.is_secret) {
    const bool is_right =
        !config_.log_in.secret.empty() && log_in_.try_secret(credentials.password, next);
    if (is_right) status = {};
  } else if (log_in_.has_accounts()) {
    if (!log_in_.has_ended()) {
      requests.turn().next = Next::log_in;
      note_secret(requests.turn(), credentials.password);
      return Done::later;
    }
    status = log_in_.end_account(next);
  }
  if (status.ok()) {
    log_in_.end_right_try(requests.turn());
    begin_change(requests.changes());
    become(std::move(next));
    Reply(requests.out()).logged_in(request);
    return Done::answered;
  }
  if (log_in_.holds_back(way, requests)) return Done::later;
  if (log_in_.has_ended()) {
    begin_change(requests.changes());
    become({.caller = caller(), .is_logged_in = log_in_.is_logged_in()});
  }
  return Done::answered;
}

// Whoever owns the input writes over the password.
void Dialogue::note_secret(net::Turn& turn, std::string_view secret) const {
  turn.secret_begin = static_cast<std::size_t>(secret.data() - turn.input.data());
  turn.secret_size = secret.size();
}

Dialogue::Done Dialogue::execute_connection(passes::Requests& requests, const Request& request,
                                            Status& status) {
  Reply reply(requests.out());
  switch (request.action) {
    case Action::log_in: return log_in(requests, request, status);
    case Action::log_ins: reply.ways_to_log_in(request); break;
    case Action::log_in_step: status = status_of(Mistake::wrong_log_in); break;
    case Action::noop: reply.noop(request); break;
    case Action::quit:
      if (request.form == Form::binary) reply.ok(request);
      return Done::closes;
    case Action::version: reply.version(request); break;
    case Action::verbosity: reply.ok(request); break;
    case Action::stats: status = answer_stats(request, requests.out()); break;
    case Action::shutdown: status = status_of(Mistake::no_shutdown); break;
    default: status = status_of(Mistake::unknown); break;
  }
  return Done::answered;
}

Status Dialogue::answer_stats(const Request& request, Buffer& out) const {
  const ServerFacts facts = config_.facts != nullptr ? config_.facts() : ServerFacts{};
  const std::string_view which = request.key;
  Stats stats(request, out);
  if (which.empty()) {
    stats.add("uptime", facts.uptime_s)
        .add("time", now_s())
        .add("version", memcached_version)
        .add("database_version", facts.version)
        .add("pointer_size", 8 * sizeof(void*))
        .add("max_connections", facts.most_clients)
        .add("curr_connections", facts.connected_clients)
        .add("total_connections", facts.connections_received)
        .add("rejected_connections", facts.connections_refused)
        .add("cmd_get", facts.gets)
        .add("cmd_set", facts.changes)
        .add("cmd_delete", facts.deletes)
        .add("auth_cmds", facts.log_ins)
        .add("auth_errors", facts.log_ins_failed)
        .add("bytes_read", facts.bytes_received)
        .add("bytes_written", facts.bytes_sent)
        .end();
  } else if (which == "settings") {
    stats.add("maxconns", facts.most_clients)
        .add("tcpport", facts.tcp_port)
        .add("udpport", std::uint64_t{0})
        .add("evictions", "off")
        .add("cas_enabled", "yes")
        .add("flush_enabled", config_.may_flush.get() ? "yes" : "no")
        .add("item_size_max", static_cast<std::uint64_t>(limits(false).most_value_bytes))
        .end();
  } else if (which == "conns") {
    stats.add("curr_connections", facts.connected_clients).end();
  } else if (which == "items" || which == "slabs" || which == "sizes") {
    stats.end();
  } else if (which == "reset") {
    Reply(out).reset(request);
  } else {
    return status_of(Mistake::bad_stats);
  }
  return {};
}

}  // namespace hs::memcached
