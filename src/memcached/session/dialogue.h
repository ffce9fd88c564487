// Dialogue: what memcached's protocol knows of one connection, and the execution of its requests.
//
// It owns which form the client speaks, which container it has chosen, what has become of its log-in, and
// how far a get of many keys has come. The thread that has the connection's turn calls it. It does no
// I/O. What a request does to items is in items.h, and what becomes of a turn is the pass's part.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/counters.h"
#include "base/status.h"
#include "keys/open_rows.h"
#include "memcached/protocol/request_reader.h"
#include "memcached/session/config.h"
#include "memcached/session/items.h"
#include "passes/dialogue.h"
#include "passes/log_in.h"

namespace hs::memcached {

class Memcached;

// A worker touches and reads so many items in one request. With more it is too much for a worker.
inline constexpr std::size_t most_touched_by_worker = 64;

class Dialogue final : public passes::Dialogue {
 public:
  // What is kept for a client that may not do anything yet.
  static constexpr std::size_t most_waiting_before_login = 4096;

  explicit Dialogue(const Config& config);

  std::size_t whole_requests(std::string_view input) const override;
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
  enum class Wire : std::uint8_t { unknown, text, binary };

  // How far a get of many keys has come that goes on in a later turn, or when its client reads again.
  struct ManyKeys {
    bool has_begun = false;
    std::size_t next = 0;  // where the next key stands in the request's more_keys
  };
  // What requests may change. If their pass is executed again, they find it as it was.
  struct State {
    Wire wire = Wire::unknown;
    std::string container{};      // that was chosen; empty: the default one
    std::size_t thrown_away = 0;  // so many bytes at the front belong to a request that was refused
    ManyKeys many{};
  };
  struct Before {
    State state;
    passes::LogIn::State log_in;
  };
  // What has become of a request that touches no item.
  enum class Done : std::uint8_t {
    answered,
    later,   // the turn is over, and the request is executed again
    closes,  // answered, and the connection ends
  };

  const std::shared_ptr<const store::Caller>& caller() const { return log_in_.caller(); }
  bool is_binary(std::string_view input) const;
  RequestLimits limits(bool is_first) const;
  std::size_t most_waiting_now() const {
    return caller() != nullptr ? no_limit : most_waiting_before_login;
  }
  State& begin_change(passes::Changes& changes);
  void become(passes::LogIn::State state);
  keys::RowWork work_for(store::Store& store, Memcached& front, Buffer& out, bool is_worker,
                         store::Sink* sink);

  // dialogue_turns.cc: one request. False: the turn is over.
  bool execute_request(passes::Requests& requests, Memcached& front, std::size_t end);
  bool end(passes::Requests& requests, const passes::Answer& answer, std::size_t end,
           std::size_t thrown_away = 0);
  bool refuse_request(passes::Requests& requests, Memcached& front, std::size_t end);
  bool execute_get(passes::Requests& requests, Memcached& front, const Request& request,
                   std::size_t end);
  bool execute_item(passes::Requests& requests, Memcached& front, const Request& request,
                    std::size_t end);
  void give_up_first(passes::Requests& requests, Memcached& front);
  void throw_away(passes::Requests& requests);
  bool end_on_items(passes::Requests& requests, const passes::Answer& answer,
                    std::string_view container, std::size_t end);
  void choose(passes::Changes& changes, std::string_view container);
  void note_reached(std::string_view container);

  // look_ahead.cc: names the items of the next keys of a get of many, this key first.
  void name_items(const Request& request, std::string_view key, std::string_view more_keys,
                  std::string_view container, store::LookAhead& ahead);

  // dialogue_items.cc: of all keys of a request.
  store::Outcome execute_on_items(RowWork& work, const Request& request,
                                  std::string_view& container, store::Sink* sink);
  store::Outcome end_key(store::Sink& sink, Buffer& out, std::size_t next,
                         std::string_view container, std::uint32_t& keys);

  // dialogue_connection.cc
  Done execute_connection(passes::Requests& requests, const Request& request, Status& status);
  Done log_in(passes::Requests& requests, const Request& request, Status& status);
  Status answer_stats(const Request& request, Buffer& out) const;
  void note_secret(net::Turn& turn, std::string_view secret) const;

  const Config& config_;
  passes::LogIn log_in_;
  State state_;
  std::unique_ptr<Before> before_;  // null: nothing has changed
  keys::RememberedRows remembered_;
  Asked asked_;  // of the request at work
  // To which container the first request had come when it was executed last, and had to wait; empty: to no
  // other one. If its time is up before it is executed again, this one is chosen.
  std::string reached_;

  // What plan() has read.
  Request planned_;
};

// Whether a text command asks for several keys.
inline bool has_more_keys(const Request& request) {
  return request.more_keys.find_first_not_of(' ') != std::string_view::npos;
}

Counter counter_of(Action action);

}  // namespace hs::memcached
