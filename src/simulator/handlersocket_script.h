// HandlerSocketScript: a client of the HandlerSocket protocol. It knows the answer to all that it asks.
//
// The seed decides what that is: lookups, additions, groups, long finds and counts, mistakes, log-ins and a
// second open index, on its own rows.
#pragma once

#include <cstdint>
#include <deque>
#include <string>

#include "simulator/faulty_store.h"
#include "simulator/script.h"
#include "simulator/shared_counters.h"
#include "simulator/wrong_tries.h"

namespace hs::simulator {

class HandlerSocketScript final : public Script {
 public:
  // The client's rows have the numbers from `first_key` on.
  HandlerSocketScript(World& world, const Faults& faults, const Rows& committed,
                      WrongTries& wrong_tries, SharedCounters& shared, ClientKind kind,
                      std::uint64_t first_key)
      : Script(world, faults, kind),
        committed_(committed),
        wrong_tries_(wrong_tries),
        shared_(shared),
        first_key_(first_key) {}

  void ask_more() override;
  std::size_t bytes_of_next(std::size_t sent) const override;
  std::size_t answers_to_come() const override { return expected_.size(); }
  void take_replies(std::string& received) override;
  // The rows contain its additions as often as they were acknowledged.
  void check_end() const override;
  std::string story() const override;
  // How many of its requests were answered 1205.
  std::uint64_t waited_too_long() const override { return waited_too_long_; }
  // How many of its requests were not done because their own time was over.
  std::uint64_t timed_out() const override { return timed_out_; }

 private:
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
      shared,  // an addition to a counter that is everybody's
      shared_open,
      long_find,
      count,
      mistake,
      list,
      echo,
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

  void ask_wrong();
  void ask_right();
  void ask_addition(std::uint64_t key);
  void ask_group();
  void ask_shared();
  void ask(Expected expected, const std::string& line);
  void check_reply(const std::string& line);
  void check_addition(const Expected& expected, const std::string& line);
  bool is_of_undone_group(const Expected& expected, const std::string& line);
  bool is_out_of_time(const Expected& expected, const std::string& line);
  bool is_late_reply(const Expected& expected, const std::string& line);
  void ask_for_many();
  std::string rows(const Expected& expected) const;

  const Rows& committed_;
  WrongTries& wrong_tries_;
  SharedCounters& shared_;
  const std::uint64_t first_key_;
  std::deque<Expected> expected_;
  std::uint64_t waited_too_long_ = 0;
  std::uint64_t timed_out_ = 0;
  std::string of_group_;    // its error, if the group whose replies are read was undone
  std::string not_opened_;  // the indexes for which it was too late
  Rows acknowledged_;
  Rows asked_;
};

}  // namespace hs::simulator
