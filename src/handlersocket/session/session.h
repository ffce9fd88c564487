// Session: what HandlerSocket knows about one connection, and the execution of its requests.
//
// It owns the open indexes, and what has become of the client's log-ins. The thread that has the
// connection's turn calls it. It does no I/O. If a request has several mistakes, it decides which
// error is answered. What a request does to rows is the store's part, and what becomes of a turn is
// the pass's.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/buffer.h"
#include "base/counters.h"
#include "base/setting.h"
#include "base/status.h"
#include "handlersocket/protocol/foreign.h"
#include "handlersocket/protocol/parser.h"
#include "handlersocket/protocol/request.h"
#include "handlersocket/session/framing.h"
#include "handlersocket/session/open_indexes.h"
#include "passes/dialogue.h"
#include "passes/log_in.h"
#include "store/store.h"

namespace hs::handlersocket {

// Of a port. Outlives its sessions.
struct SessionConfig : passes::LogInConfig {
  bool writable = false;                         // the write port
  Setting<std::size_t> max_open_indexes = 4096;  // of one session
  std::string server{};                          // what hello tells of the database server
};

class HandlerSocket;
struct GroupFailure;

// What a worker lends to the session whose turn it is.
struct Workspace {
  explicit Workspace(store::Store& store) : store(store) {}

  store::Store& store;
  Parser parser;
  Status parsed;    // of the line parsed last
  Request request;  // the request of that line, if it parsed
  // the open index of that request, if it was admitted and uses one
  NamedIndex* index = nullptr;
  store::Changed changed;  // by the write executed last
  // of a request that is executed alone: its indexes, for each line of a group one
  std::vector<passes::NeededIndex> needed;
  Group group;                               // if it is one
  std::string opens;                         // the names of the index that such a request opens
  std::vector<store::InsertedRow> inserted;  // of the insert at work
};

struct Answer : passes::Answer {
  bool has_no_place = false;  // a P for which there are too many open indexes
  bool logs_in = false;       // a log-in of an account: nothing was done, a log-in thread has to
};

bool is_write(const Request& request);
bool is_long_list(const Request& request);  // it is never executed by a worker
bool is_log_in(const Request& request);     // of an account
passes::LogIn::Way way_of(const Auth& auth);
Counter counter_of(const Request& request);

class Session final : public passes::Dialogue {
 public:
  // What is kept for a client that may not do anything yet.
  static constexpr std::size_t most_waiting_before_login = 4096;

  explicit Session(const SessionConfig& config) : config_(config), log_in_(config) {
    most_waiting = most_waiting_now();
  }

  std::size_t whole_requests(std::string_view input) const override;
  std::string_view foreign_protocol(std::string_view begin) const override {
    return handlersocket::foreign_protocol(begin);
  }
  void refuse(net::Refusal why, Buffer& out) const override;
  void append_error(Status status, Buffer& out) const override;
  void replace_reply(std::string_view input, Status status, std::uint32_t replies,
                     Buffer& out) override;
  void keep_changes() override { before_.reset(); }
  void undo_changes() override;

  void depart() override {
    indexes_.forget_indexes();
    owner_ = nullptr;
  }
  void execute(passes::Requests& requests) override;
  std::size_t look_ahead(std::string_view input, const store::Store& store,
                         store::LookAhead& ahead) override;
  passes::Plan plan(net::Turn& turn, passes::Protocol& protocol) override;
  store::Outcome execute_planned(passes::Place& place, passes::Protocol& protocol) override;
  void end_planned(Status ended, passes::Protocol& protocol) override;

  // Executes one line, without its LF and CR, if `runs` allows it. If the verdict is not
  // `answered`, nothing is written and nothing is remembered. If the line changes the session,
  // `changes` knows.
  Answer execute(std::string_view line, passes::Runs runs, Workspace& workspace,
                 passes::Changes& changes, Buffer& out);

  // Parses a line into workspace.request and says whether it may be executed. Touches no store.
  Status admit(std::string_view line, Workspace& workspace);
  // The same for a line of a group.
  Status admit_in_group(std::string_view line, Workspace& workspace, Meets& meets);

  bool is_logged_in() const { return log_in_.is_logged_in(); }
  // As whom the connection acts; null: as nobody, because it has to log in first.
  const std::shared_ptr<const store::Caller>& caller() const { return log_in_.caller(); }
  std::string_view user() const override {
    return caller() == nullptr ? std::string_view{} : caller()->name();
  }
  // The connection acts as `caller` from now on, also with the indexes that it has open. No find of
  // it may be parked.
  void act_as(std::shared_ptr<const store::Caller> caller) {
    become({.caller = std::move(caller), .is_logged_in = is_logged_in()});
  }

 private:
  // What the server says of the error that a request has met last, and the warnings of the last write.
  struct LastSaid {
    Status status{};
    store::Said said{};
  };
  // While it lives, the store says what it has to say of a write.
  class Listening {
   public:
    // `outcome` is that of the request, when this object ends.
    Listening(Session& session, store::Store& store, const store::Outcome& outcome, bool is_write)
        : session_(session),
          store_(store),
          outcome_(outcome),
          listens_(session.last_said_ != nullptr && is_write) {
      if (!listens_) [[likely]]
        return;
      session.last_said_->said.clear();
      store_.explain_to(&session.last_said_->said);
    }
    ~Listening() {
      if (!listens_) [[likely]]
        return;
      store_.explain_to(nullptr);
      session_.last_said_->status = outcome_.status();
      if (!outcome_.ok()) session_.forget_warnings();
    }
    Listening(const Listening&) = delete;
    Listening& operator=(const Listening&) = delete;

   private:
    Session& session_;
    store::Store& store_;
    const store::Outcome& outcome_;
    const bool listens_;
  };

  // What P, A and H requests, and the warnings of writes, have replaced since keep_changes().
  struct Before {
    passes::LogIn::State log_in;
    std::optional<passes::RemoteOpen> remote_open;
    bool has_changed_caller = false;
    Hello hello{};
    std::vector<store::Warning> warnings{};                       // if they are wanted
    bool has_written = false;                                     // since then, and they are wanted
    std::vector<std::pair<std::uint64_t, NamedIndex>> indexes{};  // the latest comes last
  };

  // The open indexes belong to this store from now on.
  void use_store(const store::Store& store) {
    if (owner_ == &store) [[likely]]
      return;
    indexes_.forget_indexes();
    owner_ = &store;
  }
  void refuse_and_close(Mistake mistake, passes::Requests& requests) const;
  Status admit_parsed(Status parsed, Workspace& workspace);
  bool execute_within(Line line, passes::Requests& requests, HandlerSocket& front);
  bool execute_line(const Line& line, passes::Requests& requests, HandlerSocket& front);
  // In session_groups.cc.
  bool execute_group(const Line& first, bool is_out_of_time, passes::Requests& requests,
                     HandlerSocket& front);
  template <class Execute>
  store::Outcome execute_unit(const Group& group, passes::Place& place, Workspace& workspace,
                              GroupFailure& failure, Execute execute);
  store::Outcome execute_planned_group(passes::Place& place, Workspace& workspace);
  void append_failure(const Group& group, const GroupFailure& failure, Buffer& out) const;
  passes::Plan plan_group(const Line& first, net::Turn& turn, Workspace& workspace);
  void give_up_first(passes::Requests& requests, Workspace& workspace);
  void refuse(const Line& line, Status why, passes::Requests& requests, Workspace& workspace);
  void refuse_group(const Group& group, Status why, passes::Requests& requests);
  bool hold_back(const Auth& auth, bool was_right, passes::Requests& requests);
  store::Outcome open_index(Workspace& workspace, passes::Changes& changes, bool& has_no_place);
  store::Outcome open_every_column(Workspace& workspace, std::string& columns);
  Status log_in(const Auth& auth, passes::Changes& changes);
  void take(const Hello& hello);
  store::Outcome describe(const NamedIndex& index, store::Store& store, Buffer& out) const;
  store::Outcome list(const Request& request, store::Store& store, store::Sink* sink,
                      Buffer& out) const;
  Status tell_warnings(Buffer& out) const;
  // A write is executed in a pass, or refused: those of the write before it are over, unless the pass is
  // executed again.
  void begin_write(passes::Changes& changes) {
    if (!hello_.wants_warnings) [[likely]]
      return;
    begin_change(changes).has_written = true;
    forget_warnings();
  }
  // The write that they are of was undone, or is no longer the last one.
  void forget_warnings() {
    if (last_said_ != nullptr) [[unlikely]]
      last_said_->said.warnings.clear();
  }
  void greet(const Hello& hello, passes::Changes& changes, Buffer& out);
  void become(passes::LogIn::State state);
  std::size_t most_waiting_now() const {
    return caller() != nullptr ? no_limit : most_waiting_before_login;
  }
  Before& begin_change(passes::Changes& changes);
  store::Outcome open_again(Workspace& workspace, NamedIndex& index);

  const SessionConfig& config_;
  passes::LogIn log_in_;
  const store::Store* owner_ = nullptr;  // of the open indexes; never dereferenced
  OpenIndexes indexes_;
  std::unique_ptr<Before> before_;  // null: nothing has changed
  Hello hello_;
  std::unique_ptr<LastSaid> last_said_;  // null: the client wants neither texts nor warnings
};

}  // namespace hs::handlersocket
