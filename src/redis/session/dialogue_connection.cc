// The commands about the connection itself: log-ins, RESP2 and RESP3, names, and the end.
#include <algorithm>
#include <optional>
#include <utility>

#include "net/peer.h"
#include "passes/requests.h"
#include "redis/protocol/errors.h"
#include "redis/protocol/number.h"
#include "redis/session/client_list.h"
#include "redis/session/dialogue.h"
#include "redis/session/info_reply.h"
#include "redis/session/redis.h"
#include "redis/session/server_replies.h"

namespace hs::redis {
namespace {

using net::Next;
using passes::LogIn;

std::string in_quotes(std::string_view word) { return "'" + std::string(word) + "'"; }

// What HELLO asks for.
struct Hello {
  std::optional<Resp> resp{};
  std::optional<Credentials> log_in{};
  std::optional<std::string_view> name{};
  std::size_t mistake = 0;  // the number of the word that is one
  bool is_unknown_version = false;
  bool is_no_version = false;
};

Hello read_hello(Words words) {
  Hello hello;
  if (words.size() == 1) return hello;
  std::int64_t version = 0;
  hello.is_no_version = !read_integer(words[1], version);
  hello.is_unknown_version = version != 2 && version != 3;
  hello.resp = version == 2 ? Resp::two : Resp::three;
  for (std::size_t i = 2; i < words.size(); ++i) {
    const std::size_t left = words.size() - i - 1;
    if (is_word(words[i], "auth") && left >= 2) {
      hello.log_in = Credentials{words[i + 1], words[i + 2]};
      i += 2;
    } else if (is_word(words[i], "setname") && left >= 1) {
      hello.name = words[++i];
    } else {
      hello.mistake = i;
      break;
    }
  }
  return hello;
}

constexpr std::size_t most_name = 256;

// Redis has no other bytes in a name: it would be a problem in CLIENT LIST. Each connection keeps its own.
bool is_name(std::string_view text) {
  return text.size() <= most_name &&
         std::ranges::all_of(text, [](char byte) { return byte >= '!' && byte <= '~'; });
}

}  // namespace

std::optional<Credentials> credentials_of(const CommandInfo& info, Words words) {
  std::optional<Credentials> given;
  if (info.command == Command::hello) given = read_hello(words).log_in;
  if (info.command == Command::auth && words.size() == 3) given = Credentials{words[1], words[2]};
  if (info.command == Command::auth && words.size() == 2)
    given = Credentials{default_user, words[1]};
  return given;
}

bool is_of_account(const Credentials& credentials) { return credentials.user != default_user; }

// A try that may not be made now, or is answered later, is made again.
Dialogue::Done Dialogue::log_in(passes::Requests& requests, const Credentials& credentials,
                                Status& status) {
  const bool of_account = is_of_account(credentials);
  const LogIn::Way way = of_account ? LogIn::Way::account : LogIn::Way::secret;
  if (!of_account && config_.log_in.secret.empty()) {
    status = status_of(Mistake::no_secret);
    return Done::answered;
  }
  if (!log_in_.may_try(way, requests)) return Done::later;
  LogIn::State next;
  if (!of_account) {
    status =
        log_in_.try_secret(credentials.password, next) ? Status{} : status_of(Mistake::wrong_pass);
  } else if (!log_in_.has_accounts()) {
    status = status_of(Mistake::wrong_pass);
  } else if (!log_in_.has_ended()) {
    requests.turn().next = Next::log_in;
    note_secret(requests.turn(), credentials.password);
    return Done::later;
  } else {
    status = log_in_.end_account(next);
  }
  if (status.ok()) {
    log_in_.end_right_try(requests.turn());
    begin_change(requests.changes());
    become(std::move(next));
    return Done::answered;
  }
  if (log_in_.holds_back(way, requests)) return Done::later;
  if (log_in_.has_ended()) {
    begin_change(requests.changes());
    become({.caller = caller(), .is_logged_in = log_in_.is_logged_in()});
  }
  return Done::answered;
}

// Whoever owns the input writes over the password. The words of an inline command that has quotes are
// not in it.
void Dialogue::note_secret(net::Turn& turn, std::string_view secret) const {
  const char* const begin = turn.input.data();
  if (secret.data() < begin || secret.data() + secret.size() > begin + turn.input.size()) return;
  turn.secret_begin = static_cast<std::size_t>(secret.data() - begin);
  turn.secret_size = secret.size();
}

Dialogue::Done Dialogue::hello(passes::Requests& requests, Words words, Buffer& out,
                               Status& status) {
  const Hello hello = read_hello(words);
  if (hello.is_no_version) {
    status = say("ERR Protocol version is not an integer or out of range");
  } else if (hello.resp && hello.is_unknown_version) {
    status = say("NOPROTO unsupported protocol version");
  } else if (hello.mistake != 0) {
    status = say("ERR Syntax error in HELLO option " + in_quotes(words[hello.mistake]));
  } else if (hello.name && !is_name(*hello.name)) {
    status = say("ERR Client names cannot contain spaces, newlines or special characters.");
  }
  if (!status.ok()) return Done::answered;
  if (hello.log_in) {
    const Done done = log_in(requests, *hello.log_in, status);
    if (done != Done::answered || !status.ok()) return done;
  }
  if (caller() == nullptr) {
    status = status_of(Mistake::hello_no_auth);
    return Done::answered;
  }
  State& state = begin_change(requests.changes());
  if (hello.name) state.name = *hello.name;
  if (hello.resp) state.resp = *hello.resp;
  tell_name();
  Reply reply = reply_to(out);
  reply.map(7);
  reply.bulk("server");
  reply.bulk("redis");
  reply.bulk("version");
  reply.bulk(redis_version);
  reply.bulk("proto");
  reply.integer(static_cast<std::int64_t>(state.resp));
  reply.bulk("id");
  reply.integer(static_cast<std::int64_t>(number));
  reply.bulk("mode");
  reply.bulk("standalone");
  reply.bulk("role");
  reply.bulk("master");
  reply.bulk("modules");
  reply.array(0);
  return Done::answered;
}

// As it was when the client came. The library that it uses is still the same.
void Dialogue::reset(passes::Changes& changes) {
  State& state = begin_change(changes);
  state = State{.library = std::move(state.library),
                .library_version = std::move(state.library_version)};
  become({.caller = config_.log_in.anonymous.get()});
  if (has_told_name_) tell_name();
}

Status Dialogue::client_reply(passes::Changes& changes, Words words, Buffer& out) {
  if (is_word(words[2], "on")) {
    State& state = begin_change(changes);
    state.replies_are_off = false;
    state.skipped_replies = 0;
    reply_to(out).ok();
  } else if (is_word(words[2], "off")) {
    begin_change(changes).replies_are_off = true;
  } else if (is_word(words[2], "skip")) {
    // Its own reply is not there either.
    if (!state_.replies_are_off) begin_change(changes).skipped_replies = 2;
  } else {
    return status_of(Mistake::syntax);
  }
  return {};
}

std::string Dialogue::describe_client(const net::PeerAddress* peer) const {
  const std::string_view account = user();
  return "id=" + std::to_string(number) +
         " addr=" + (peer != nullptr ? peer->text() : std::string()) + " name=" + state_.name +
         " user=" + (account.empty() ? std::string(default_user) : std::string(account)) +
         " flags=N db=0 sub=0 psub=0 ssub=0 watch=" +
         std::to_string(state_.watched.get() ? state_.watched.get()->size() : 0) + " multi=" +
         (is_queueing() ? std::to_string(state_.transaction->size()) : std::string("-1")) +
         " resp=" + std::to_string(static_cast<int>(state_.resp)) + " lib-name=" + state_.library +
         " lib-ver=" + state_.library_version;
}

Status Dialogue::client(const net::Turn& turn, passes::Changes& changes, Words words, Buffer& out) {
  const std::string_view what = words[1];
  Reply reply = reply_to(out);
  const auto takes = [&](std::size_t count) { return words.size() == count; };
  const auto wrong_arity = [&](std::string_view name) {
    return say("ERR wrong number of arguments for 'client|" + std::string(name) + "' command");
  };
  if (is_word(what, "id")) {
    if (!takes(2)) return wrong_arity("id");
    reply.integer(static_cast<std::int64_t>(number));
  } else if (is_word(what, "getname")) {
    if (!takes(2)) return wrong_arity("getname");
    if (state_.name.empty()) {
      reply.null();
    } else {
      reply.bulk(state_.name);
    }
  } else if (is_word(what, "setname")) {
    if (!takes(3)) return wrong_arity("setname");
    if (!is_name(words[2]))
      return say("ERR Client names cannot contain spaces, newlines or special characters.");
    begin_change(changes).name = words[2];
    tell_name();
    reply.ok();
  } else if (is_word(what, "setinfo")) {
    if (!takes(4)) return wrong_arity("setinfo");
    const bool is_name_of_library = is_word(words[2], "lib-name");
    if (!is_name_of_library && !is_word(words[2], "lib-ver"))
      return say("ERR Unrecognized option " + in_quotes(words[2]));
    if (!is_name(words[3])) {
      return say(std::string("ERR ") + (is_name_of_library ? "lib-name" : "lib-ver") +
                 " cannot contain spaces, newlines or special characters.");
    }
    State& state = begin_change(changes);
    (is_name_of_library ? state.library : state.library_version) = words[3];
    tell_name();
    reply.ok();
  } else if (is_word(what, "info")) {
    if (!takes(2)) return wrong_arity("info");
    reply.verbatim(describe_client(turn.peer) + "\n");
  } else if (is_word(what, "help")) {
    if (!takes(2)) return wrong_arity("help");
    answer_client_help(reply);
  } else if (is_word(what, "list") || is_word(what, "kill")) {
    return say("ERR nobody can be asked for connections here");
  } else if (is_word(what, "no-evict") || is_word(what, "no-touch")) {
    if (!takes(3)) return wrong_arity(is_word(what, "no-evict") ? "no-evict" : "no-touch");
    if (!is_word(words[2], "on") && !is_word(words[2], "off")) return status_of(Mistake::syntax);
    reply.ok();
  } else if (is_word(what, "reply")) {
    if (!takes(3)) return wrong_arity("reply");
    return client_reply(changes, words, out);
  } else if (is_word(what, "tracking")) {
    return say(
        "ERR client tracking is not there, because SQL changes rows, too: see docs/redis.md");
  } else {
    return say("ERR unknown subcommand " + in_quotes(what.substr(0, most_name)) +
               ". Try CLIENT HELP.");
  }
  return {};
}

Dialogue::Done Dialogue::execute_connection(passes::Requests& requests, const CommandInfo& info,
                                            Words words, Buffer& out, Status& status) {
  Reply reply = reply_to(out);
  switch (info.command) {
    case Command::auth: {
      if (words.size() > 3) {
        status = status_of(Mistake::syntax);
        return Done::answered;
      }
      const Done done = log_in(requests, *credentials_of(info, words), status);
      if (done == Done::answered && status.ok()) reply.ok();
      return done;
    }
    case Command::hello: return hello(requests, words, out, status);
    case Command::client:
      status = client(requests.turn(), requests.changes(), words, out);
      return Done::answered;
    case Command::quit: reply.ok(); return Done::closes;
    case Command::reset:
      reset(requests.changes());
      reply.simple("RESET");
      return Done::answered;
    case Command::multi: {
      if (is_queueing() && !state_.was_refused) {
        spoil(requests.changes());
        status = status_of(Mistake::multi_in_multi);
        return Done::answered;
      }
      State& state = begin_change(requests.changes());
      state.transaction = std::make_shared<Transaction>(config_.queued);
      state.is_spoiled = state.was_refused = false;
      reply.ok();
      return Done::answered;
    }
    case Command::discard:
      if (is_queueing()) {
        end_transaction(requests.changes());
        reply.ok();
      } else {
        status = status_of(Mistake::discard_without_multi);
      }
      return Done::answered;
    case Command::unwatch:
      forget_watched(requests.changes());
      reply.ok();
      return Done::answered;
    default: status = answer_plain(config_, info, words, reply, said_); return Done::answered;
  }
}

}  // namespace hs::redis
