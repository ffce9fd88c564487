// Session: what HandlerSocket knows about one connection, and the execution of its requests.
//
// It owns the login state, the caller and the open indexes. The thread that has the connection's
// turn calls it. It does no I/O. If a request has several mistakes, it decides which error is
// answered. What a request does to rows is the store's part, and what becomes of a turn is the
// pass's.
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
#include "handlersocket/protocol/parser.h"
#include "handlersocket/protocol/request.h"
#include "handlersocket/session/open_indexes.h"
#include "passes/dialogue.h"
#include "store/authenticator.h"
#include "store/store.h"

namespace hs::session {

// Of a listener. Outlives its sessions.
struct SessionConfig {
  bool writable = false;                         // the write port
  std::string secret;                            // empty: only an A 1 with an empty one succeeds
  Setting<std::size_t> max_open_indexes = 4096;  // of one session
  // as whom a connection acts that has not logged in; null: it may only log in
  SharedSetting<const store::Caller> anonymous = store::Caller::unlimited();
  // as whom a connection acts that has given the secret; null: no A 1 succeeds
  SharedSetting<const store::Caller> trusted = store::Caller::unlimited();
  // checks the log-ins of accounts, and outlives the sessions; null: there is no A 2
  const store::Authenticator* authenticator = nullptr;
};

class HandlerSocket;
class Session;
struct Line;

// How a P has ended on a remote thread.
struct RemoteOpen {
  std::string names;  // of that P
  Status status;
  std::uint32_t key_parts = 0;
  std::uint32_t column_count = 0;
};

// What a P or an A request has replaced.
struct SessionChange {
  Session* session = nullptr;
  bool of_index = false;
  bool is_logged_in = false;
  std::shared_ptr<const store::Caller> caller{};
  std::optional<store::LogIn> log_in{};
  std::optional<RemoteOpen> remote_open{};
  std::uint64_t index_id = 0;
  NamedIndex index;
};

// What a worker lends to the session whose turn it is.
struct Workspace {
  explicit Workspace(store::Store& store) : store(store) {}

  store::Store& store;
  protocol::Parser parser;
  Status parsed;              // of the line parsed last
  protocol::Request request;  // the request of that line, if it parsed
  std::vector<SessionChange>
      changes;  // made in this pass, so that they can be undone if it is executed again
};

struct Answer : passes::Answer {
  bool has_no_place = false;  // a P for which there are too many open indexes
  bool logs_in = false;       // a log-in of an account: nothing was done, a log-in thread has to
};

// Executes a write that was admitted, and appends its reply to `out` if it succeeds.
store::Outcome execute_write(store::Store& store, store::IndexUse& use, protocol::Request& request,
                             Buffer& out, std::uint32_t& values_ignored);
bool is_write(const protocol::Request& request);
bool is_log_in(const protocol::Request& request);  // of an account
Counter counter_of(const protocol::Request& request);

class Session final : public passes::Dialogue {
 public:
  // What is kept for a client that may not do anything yet.
  static constexpr std::size_t most_waiting_before_login = 4096;

  explicit Session(const SessionConfig& config) : config_(config) {
    set_logged_in(false, config.anonymous.get());
  }

  void depart() override {
    indexes_.forget_indexes();
    owner_ = nullptr;
  }
  void execute(passes::Requests& requests) override;
  passes::FirstRequest first_request(net::Turn& turn, passes::Protocol& protocol) override;
  store::Outcome execute_first(passes::Alone& alone) override;
  void end_open(const passes::FirstRequest& request, Status status,
                const store::IndexUse& use) override;

  // Executes one line, without its LF and CR, if `runs` allows it. If the verdict is not
  // `answered`, nothing is written and nothing is remembered.
  Answer execute(std::string_view line, passes::Runs runs, Workspace& workspace, Buffer& out);

  // Parses a line into workspace.request and says whether it may be executed. `index` becomes the
  // open index of a find or an insert. Touches no store.
  Status admit(std::string_view line, Workspace& workspace, NamedIndex*& index);

  // Whether the client has given the secret, or a password.
  bool is_logged_in() const { return is_logged_in_; }
  // On a log-in thread: how a log-in has ended. It counts when the request is executed again, which
  // answers it.
  void end_log_in(store::LogIn log_in) { log_in_ = std::move(log_in); }
  // The refusal of a log-in has been answered.
  void forget_refusal(Workspace& workspace);

  // Whether the secret of its next request was tried, and whether the secret or the password was.
  bool has_tried_secret() const { return has_tried_secret_; }
  bool has_tried() const { return has_tried_secret_ || log_in_; }
  void note_secret_tried(bool tried) { has_tried_secret_ = tried; }

  // As whom the connection acts; null: as nobody, because it has to log in first.
  const std::shared_ptr<const store::Caller>& caller() const { return caller_; }
  std::string_view user() const override {
    return caller_ == nullptr ? std::string_view{} : caller_->name();
  }
  // The connection acts as `caller` from now on, also with the indexes that it has open. No find of
  // it may be parked.
  void act_as(std::shared_ptr<const store::Caller> caller);

  // Undoes one change. The latest change has to be undone first.
  void undo(SessionChange& change);

 private:
  bool execute_line(const Line& line, passes::Requests& requests, HandlerSocket& front);
  void give_up_first(passes::Requests& requests, Workspace& workspace);
  bool may_try(std::string_view line, passes::Requests& requests, HandlerSocket& front);
  void end_try(const net::Turn& turn, HandlerSocket& front, bool was_right);
  bool holds_back(passes::Requests& requests, HandlerSocket& front);
  void run_log_in(net::Turn& turn, std::string_view line, HandlerSocket& front);
  store::Outcome open_index(Workspace& workspace, bool& has_no_place);
  Status authorise(Workspace& workspace);
  SessionChange change();
  Status take_log_in(Workspace& workspace);
  store::Outcome open_again(Workspace& workspace, NamedIndex& index);
  void set_logged_in(bool logged_in, std::shared_ptr<const store::Caller> caller);

  const SessionConfig& config_;
  std::shared_ptr<const store::Caller> caller_;
  const store::Store* owner_ = nullptr;  // of the open indexes; never dereferenced
  bool is_logged_in_ = false;
  bool has_tried_secret_ = false;
  std::optional<store::LogIn> log_in_;     // one that has ended and is not answered yet
  std::optional<RemoteOpen> remote_open_;  // the same
  OpenIndexes indexes_;
};

}  // namespace hs::session
