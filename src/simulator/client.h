// Client: the client of one connection. It knows the answer to everything that it asks.
//
// The seed decides its script: lookups, additions, long finds and counts, mistakes, log-ins and a second open
// index, on its own rows. step() does one thing at random: it sends some bytes of the script, cut
// anywhere, reads some replies, stalls, finishes or vanishes. Each reply is checked against the
// model when it is read.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <memory>
#include <string>

#include "simulator/faulty_store.h"
#include "simulator/world.h"
#include "simulator/wrong_tries.h"

namespace hs::simulator {

class Client {
 public:
  enum class Kind : std::uint8_t {
    ordinary,
    light,    // asks for little, sends one request at a time, and reads at once
    guesser,  // tries many wrong secrets and passwords, and a right one at last
  };

  // `connect` makes the connection. The client's rows have the numbers from `first_key` on.
  Client(World& world, const Faults& faults, const Rows& committed, WrongTries& wrong_tries,
         Kind kind, std::uint64_t first_key, std::function<std::shared_ptr<Socket>()> connect);

  // Returns whether it could do anything.
  bool step();
  bool done() const { return state_ == State::done; }
  // How many of its requests were answered 1205.
  std::uint64_t waited_too_long() const { return waited_too_long_; }
  // How many of its requests were not done because their own time was over.
  std::uint64_t timed_out() const { return timed_out_; }
  // To be called after the server has stopped: the rows contain its additions as often as they were
  // acknowledged.
  void check_rows() const;
  // What it has sent and what replies it got, for the report of a failure.
  std::string story() const;

 private:
  enum class State : std::uint8_t { connecting, talking, finishing, done };
  struct Expected {
    enum class Kind : std::uint8_t {
      open,
      lookup,
      addition,
      upsert,  // an addition, too
      // The first line of a group, and its lines behind it: additions and lookups.
      group,
      group_addition,
      group_lookup,
      long_find,
      count,
      mistake,
      log_in,
      wrong_log_in,
      wrong_secret
    } kind;
    std::uint64_t key = 0;
    std::uint64_t limit = 1;
    char index = '1';
    bool down = false;   // of a long find
    bool fails = false;  // of a group
    bool timed = false;  // it has a time of its own

    bool adds() const { return kind == Kind::addition || kind == Kind::upsert; }
    bool is_in_group() const { return kind == Kind::group_addition || kind == Kind::group_lookup; }
  };

  void write_script();
  void ask_wrong();
  void ask_right();
  void ask_addition(std::uint64_t key);
  void ask_group();
  void ask(Expected expected, const std::string& line);
  bool send_some();
  bool greet();
  void take_replies(std::string bytes);
  bool read_some();
  void check_reply(const std::string& line);
  void check_addition(const Expected& expected, const std::string& line);
  bool is_of_undone_group(const Expected& expected, const std::string& line);
  bool is_out_of_time(const Expected& expected, const std::string& line);
  bool is_late_reply(const Expected& expected, const std::string& line);
  void ask_for_many();
  std::string rows(const Expected& expected) const;
  bool vanish();
  bool end_if_server_has();
  bool may_be_ended() const;

  World& world_;
  const Faults& faults_;
  const Rows& committed_;
  WrongTries& wrong_tries_;
  const Kind kind_;
  const std::uint64_t first_key_;
  std::function<std::shared_ptr<Socket>()> connect_;
  std::shared_ptr<Socket> socket_;
  std::uint64_t connected_at_ = 0;
  State state_ = State::connecting;
  const bool scrambles_;          // it speaks through net::ScrambledFilter
  std::size_t hello_sent_ = 0;    // bytes of the filter's hello
  std::size_t welcome_read_ = 0;  // bytes of the filter's answer
  std::string script_;
  std::size_t sent_ = 0;
  std::deque<Expected> expected_;
  std::string received_;
  std::string last_replies_;
  std::uint64_t waited_too_long_ = 0;
  std::uint64_t timed_out_ = 0;
  std::string of_group_;    // its error, if the group whose replies are read was undone
  std::string not_opened_;  // the indexes for which it was too late
  Rows acknowledged_;
  Rows asked_;
  bool may_be_strange_;  // it may have to log in, and has not been told that it has
  std::uint64_t stalled_until_ = 0;
};

}  // namespace hs::simulator
