// KeyScript: what the scripts of Redis's and memcached's protocols have in common.
//
// Clients ask in bursts: some requests in one piece, and the next ones when all of these are answered. Most
// are about items and rows of their own (own_things.h), others add to counters that all clients share.
#pragma once

#include <cstdint>
#include <deque>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/own_things.h"
#include "simulator/script.h"
#include "simulator/shared_counters.h"

namespace hs::simulator {

class KeyScript : public Script {
 public:
  // A simulated wall clock.
  static std::int64_t wall_ms();

  // The names of the client's keys are made from `number`.
  KeyScript(World& world, const Faults& faults, const Tables& tables, SharedCounters& shared,
            ClientKind kind, std::uint64_t number);

  void ask_more() final;
  std::size_t bytes_of_next(std::size_t sent) const final;
  std::size_t answers_to_come() const final;
  void sent(std::size_t bytes, std::uint64_t now) final;
  void take_replies(std::string& received) final;
  void check_end() const final;
  std::string story() const final;
  std::uint64_t waited_too_long() const final { return waited_too_long_; }

 protected:
  static constexpr std::size_t own_keys = 4;

  // Why a request was not executed, if its reply says so.
  enum class Refusal : std::uint8_t {
    none,
    commit_failed,
    late,     // it has waited too long for a remote thread
    no_room,  // it is the connection that ends
  };
  struct Asked {
    OwnThings::Execute own{};                          // it is about own things
    std::function<void(std::string_view)> on_reply{};  // it has got this answer
    std::function<void()> on_refusal{};                // it has failed, and nothing was done
    bool is_quiet = false;                             // it has no answer if all goes well
    // Of a quiet one: that it has no answer means that it was executed, and that its answer is empty. If it
    // fails, it has one.
    bool tells_by_silence = false;
    bool is_unsure = false;    // one of the quiet ones around it has failed
    bool touches_rows = true;  // if not, it cannot fail
    std::uint32_t opaque = 0;  // by which its protocol knows it
    std::size_t end = 0;       // of the script's bytes
    std::uint64_t sent_ms = 0;
  };

  // Asks for the next burst. `most` requests are left.
  virtual void ask_burst(std::size_t most) = 0;
  // What has to come first, if the client has to log in.
  virtual void ask_log_in() = 0;
  // How many bytes the first reply has. 0: it is not complete.
  virtual std::size_t reply_size(std::string_view received) const = 0;
  virtual Refusal refusal_of(std::string_view reply) const = 0;
  // Whether the quiet request has got this answer. If none of its kind has, nobody can tell how it has ended.
  virtual bool is_of_quiet(const Asked& quiet, std::string_view reply) const = 0;
  virtual bool quiet_ones_can_fail_unseen() const = 0;
  // Of a reply that says that something has failed: whether it does not tell which quiet request that is.
  virtual bool is_of_any_quiet(std::string_view /*reply*/) const { return false; }

  void ask(std::string_view bytes, Asked asked);
  // How many keys one request may have now. If each of them may meet a fault, one of very many would not end.
  std::size_t most_keys(bool writes) const;
  std::string item_key() { return items_[world_.below(items_.size())]; }
  std::string row_key() { return rows_[world_.below(rows_.size())]; }
  const std::vector<std::string>& items() const { return items_; }
  const std::vector<std::string>& rows() const { return rows_; }
  SeenCounters& counters() { return counters_; }
  const OwnState& likely() const { return own_.likely(); }
  void is_logged_in() { may_be_strange_ = false; }

 private:
  void take_reply(std::string_view reply);
  void settle_quiet_ones(std::string_view reply);
  void check_refusal(Refusal refusal);
  bool is_of_one_of_several(std::string_view reply);
  bool may_fail_unseen() const {
    return faults_.commit_fails != 0 || faults_.remote_patience_ms != 0;
  }

  const Tables& tables_;
  const std::uint64_t number_;
  std::vector<std::string> items_;
  std::vector<std::string> rows_;
  OwnThings own_;
  SeenCounters counters_;
  std::size_t left_;  // so many requests
  std::deque<Asked> expected_;
  std::uint64_t waited_too_long_ = 0;
};

}  // namespace hs::simulator
