// Dialogue: what Redis's protocol knows of one connection, and the execution of its commands.
//
// It owns what the client has chosen (RESP2 or RESP3, a name), what has become of its log-ins, the
// commands that wait for EXEC, and how far a request of many keys has come. The thread that has the
// connection's turn calls it. It does no I/O. What a command does to rows is in work.h, and what becomes
// of a turn is the pass's part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "base/status.h"
#include "keys/open_rows.h"
#include "passes/dialogue.h"
#include "passes/log_in.h"
#include "passes/provisional.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/reply.h"
#include "redis/protocol/request_reader.h"
#include "redis/session/command_counts.h"
#include "redis/session/config.h"
#include "redis/session/transaction.h"
#include "redis/session/watched.h"
#include "redis/session/work.h"

namespace hs::redis {

class Redis;

// A worker deletes so many rows in one request, and executes a transaction of so many keys. With more it
// is too much for a worker.
inline constexpr std::size_t most_keys_of_worker = 64;

// What a client gives in order to log in.
struct Credentials {
  std::string_view user;
  std::string_view password;
};
std::optional<Credentials> credentials_of(const CommandInfo& info, Words words);
// Whether they are those of an account of the server, and not the port's secret.
bool is_of_account(const Credentials& credentials);

class Dialogue final : public passes::Dialogue {
 public:
  // What is kept for a client that may not do anything yet.
  static constexpr std::size_t most_waiting_before_login = 4096;

  explicit Dialogue(const Config& config);
  ~Dialogue() override;

  std::size_t whole_requests(std::string_view input) const override {
    return redis::whole_requests(input);
  }
  void refuse(net::Refusal why, Buffer& out) const override;
  void append_error(Status status, Buffer& out) const override;
  void replace_reply(std::string_view input, Status status, std::uint32_t replies,
                     Buffer& out) override;
  void keep_changes() override;
  void undo_changes() override;
  void depart() override { remembered_.clear(); }
  std::string_view user() const override {
    return caller() == nullptr ? std::string_view{} : caller()->name();
  }

  void execute(passes::Requests& requests) override;
  std::size_t look_ahead(std::string_view input, const store::Store& store,
                         store::LookAhead& ahead) override;
  passes::Plan plan(net::Turn& turn, passes::Protocol& protocol) override;
  store::Outcome execute_planned(passes::Place& place, passes::Protocol& protocol) override;
  void end_planned(Status ended, passes::Protocol& protocol) override;

 private:
  // How far a request of many keys has come that goes on in a later turn.
  struct ManyKeys {
    std::size_t next = 0;
    std::uint64_t count = 0;
  };
  // What requests may change. If their pass is executed again, they find it as it was.
  struct State {
    Resp resp = Resp::two;
    std::string name{};
    std::string library{};
    std::string library_version{};
    std::shared_ptr<Transaction> transaction{};                     // null: there was no MULTI
    passes::Provisional<std::shared_ptr<const Watched>> watched{};  // null: nothing
    bool is_spoiled = false;   // EXEC will refuse the transaction
    bool was_refused = false;  // MULTI itself was: what follows is not executed before EXEC
    bool replies_are_off = false;
    // So many replies are left out: that of CLIENT REPLY SKIP, and that of the next command.
    unsigned skipped_replies = 0;
    RequestProgress progress{};
    ManyKeys many{};
  };
  struct Before {
    State state;
    passes::LogIn::State log_in;
    std::size_t queued;
  };
  // What has become of a request that touches no row.
  enum class Done : std::uint8_t {
    answered,
    later,   // the turn is over, and the request is executed again
    closes,  // answered, and the connection ends
  };

  const std::shared_ptr<const store::Caller>& caller() const { return log_in_.caller(); }
  bool wants_no_reply() const { return state_.replies_are_off || state_.skipped_replies != 0; }
  bool is_queueing() const { return state_.transaction != nullptr; }
  RequestLimits limits() const;
  std::size_t most_waiting_now() const {
    return caller() != nullptr ? no_limit : most_waiting_before_login;
  }
  State& begin_change(passes::Changes& changes);
  void set_progress(const RequestProgress& progress, passes::Changes& changes);
  void become(passes::LogIn::State state);
  Reply reply_to(Buffer& out) const { return {out, state_.resp}; }
  Status say(std::string text);
  void answer(Status status, Buffer& out) const;

  // dialogue_turns.cc: one request. False: the turn is over.
  bool execute_request(passes::Requests& requests, Redis& front, Words words, std::size_t end);
  bool end(passes::Requests& requests, const passes::Answer& answer, std::size_t begin,
           std::size_t end, CommandNote note);
  void skip_reply(passes::Changes& changes);
  bool refuse_request(passes::Requests& requests, Status status, std::size_t end,
                      const CommandNote& note);
  ErrorCode code_of(Status status) const;
  std::string reason_of(Status status) const;
  bool execute_rows(passes::Requests& requests, Redis& front, const CommandInfo& info, Words words,
                    std::size_t end);
  bool count_keys(passes::Requests& requests, Redis& front, Command command, Words keys,
                  std::size_t end);
  void give_up_first(passes::Requests& requests, Redis& front);
  Status admit(Redis& front, const CommandInfo*& info);
  Status refusal_of(Words words, const CommandInfo* info);
  Work work_for(store::Store& store, Redis& front, Reply& reply, bool is_worker, store::Sink* sink);

  // dialogue_transaction.cc
  bool queue(passes::Requests& requests, const CommandInfo& info, Words words, std::size_t end);
  bool execute_transaction(passes::Requests& requests, Redis& front, std::size_t end);
  // Calls `count(note)` for each command that EXEC has executed. None was if a watched row has changed.
  template <class Count>
  void count_queued(Count count) const {
    if (!has_run_queued_) return;
    state_.transaction->for_each_command(
        [&](Command command) { count(CommandNote{.command = command}); });
  }
  store::Outcome run_transaction(Work& work);
  store::Outcome run_queued(Work& work);
  void spoil(passes::Changes& changes) { begin_change(changes).is_spoiled = true; }
  void end_transaction(passes::Changes& changes);
  void note_watched(passes::Requests& requests, std::shared_ptr<const Watched> watched);
  void forget_watched(passes::Changes& changes);
  // Whether EXEC has to be executed as a write.
  bool is_locking() const {
    return state_.transaction->has_writes() || state_.watched.get() != nullptr;
  }
  store::Outcome watch(Work& work, Words keys, std::shared_ptr<const Watched>& watched) const;

  // dialogue_connection.cc
  Done execute_connection(passes::Requests& requests, const CommandInfo& info, Words words,
                          Buffer& out, Status& status);
  Done log_in(passes::Requests& requests, const Credentials& credentials, Status& status);
  Done hello(passes::Requests& requests, Words words, Buffer& out, Status& status);
  Status client(const net::Turn& turn, passes::Changes& changes, Words words, Buffer& out);
  Status client_reply(passes::Changes& changes, Words words, Buffer& out);
  void reset(passes::Changes& changes);
  void tell_name();
  void note_secret(net::Turn& turn, std::string_view secret) const;
  std::string describe_client(const net::PeerAddress* peer) const;

  const Config& config_;
  passes::LogIn log_in_;
  State state_;
  std::unique_ptr<Before> before_;  // null: nothing has changed
  keys::RememberedRows remembered_;
  std::string said_;             // the text of Mistake::said
  bool has_told_name_ = false;   // to the port's ClientNames
  bool has_run_queued_ = false;  // by the EXEC that was executed last

  // What plan() has read.
  const CommandInfo* planned_ = nullptr;
  std::vector<std::string_view> planned_words_;
  keys::KeyNames planned_names_;
};

}  // namespace hs::redis
