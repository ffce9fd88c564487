// RedisScript: a client of Redis's protocol.
//
// It asks for hashes, which are rows of `h`, for strings, which are items of the container `default`, for
// transactions on both, and adds to the shared counters in four ways, one of them with WATCH.
#pragma once

#include <cstddef>
#include <initializer_list>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/key_script.h"

namespace hs::simulator {

class RedisScript final : public KeyScript {
 public:
  using KeyScript::KeyScript;

 private:
  using Words = std::initializer_list<std::string_view>;

  void ask_burst(std::size_t most) override;
  void ask_log_in() override;
  std::size_t reply_size(std::string_view received) const override;
  Refusal refusal_of(std::string_view reply) const override;
  bool is_of_quiet(const Asked& /*quiet*/, std::string_view /*reply*/) const override {
    return false;
  }
  bool quiet_ones_can_fail_unseen() const override { return false; }

  void ask_words(Words words, Asked asked);
  void ask_own(Words words, OwnThings::Execute execute);
  void ask_plain(Words words, std::string_view answer);
  void ask_hash();
  void ask_string();
  void ask_expiry();
  void ask_many();
  void ask_transaction();
  void ask_shared();
  void ask_to_watch();
  void ask_watched();

  // Of the counter that is watched: its number, and what it was if that is known.
  std::optional<std::size_t> watched_{};
  std::optional<std::uint64_t> watched_sum_{};
  bool watch_failed_ = false;  // it is not known whether it is watched
};

}  // namespace hs::simulator
