// RedisScript: a client of Redis's protocol.
//
// It asks for hashes, which are rows of `h`, for strings, which are items of the container `default`, for
// transactions on both, and adds to the shared counters in four ways, one of them with WATCH. It selects its
// rows by HS.FIND and the like, goes through its keys while it changes them, changes between RESP2 and RESP3,
// and leaves out replies.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "simulator/key_script.h"
#include "simulator/redis_form.h"

namespace hs::simulator {

class RedisScript final : public KeyScript {
 public:
  using KeyScript::KeyScript;

 private:
  using Words = std::vector<std::string>;
  static constexpr std::string_view ok = "+OK\r\n";
  static constexpr std::string_view queued = "+QUEUED\r\n";
  static constexpr std::size_t until_told = ~std::size_t{0};

  // What HS.FIND and the like select of the client's own rows.
  struct Selected {
    Words words{};                    // that say so
    std::vector<std::string> keys{};  // of the rows that there may be, in their order
    std::string comparison{};         // of the column v; empty: there is no condition
    std::uint64_t than = 0;
    bool stops = false;  // the first row that does not fulfil it ends it
    std::uint64_t offset = 0;
    std::size_t limit = ~std::size_t{0};

    bool is_fulfilled(const OwnRow& row) const;
    // The keys of the rows that are selected in that state.
    std::vector<std::string> in(const OwnState& state) const;
  };
  // The pages of an HS.FIND that goes on.
  struct Page {
    bool waits = false;        // the next one is to be asked for
    std::uint64_t number = 0;  // among the client's finds with pages
    Selected selected{};
    std::string after = "0";
    std::string last_key{};
  };
  // The pages of a SCAN.
  struct Scan {
    bool waits = false;
    bool is_of_items = false;
    std::uint64_t number = 0;  // among the client's scans
    std::string cursor = "0";
    std::string last_key{};
  };

  void ask_burst(std::size_t most) override;
  void ask_log_in() override;
  std::size_t reply_size(std::string_view received) const override;
  Refusal refusal_of(std::string_view reply) const override;
  bool is_of_quiet(const Asked& /*quiet*/, std::string_view /*reply*/) const override {
    return false;
  }
  bool quiet_ones_can_fail_unseen() const override { return true; }

  // redis_script.cc
  void ask_words(const Words& words, Asked asked);
  void ask_own(const Words& words, OwnThings::Execute execute);
  void ask_plain(const Words& words, std::string_view answer);
  void ask_hash();
  void ask_string();
  void ask_expiry();
  void ask_many();
  void ask_transaction();

  // redis_connection.cc
  void ask_hello();
  void ask_silently();

  // redis_finds.cc
  void ask_selected();
  void ask_changed();
  void ask_next_page();
  void take_page(std::uint64_t number, std::string_view reply);
  Selected select();

  // redis_keys.cc
  void ask_very_many();
  void ask_about_keys();
  void ask_one_to_go();
  void ask_keys();
  void ask_scan();
  void take_scan(std::uint64_t number, std::string_view reply);
  std::string check_scan(const Scan& scan, const OwnState& state, std::string_view reply) const;

  // redis_shared.cc
  void ask_shared();
  void ask_to_watch();
  void ask_watched();

  RedisForm form_{};        // of the replies to what is asked now
  std::size_t silent_ = 0;  // so many requests have no reply
  Page page_{};
  Scan scan_{};
  // Of the counter that is watched: its number, and what it was if that is known.
  std::optional<std::size_t> watched_{};
  std::optional<std::uint64_t> watched_sum_{};
  bool watch_failed_ = false;  // it is not known whether it is watched
};

}  // namespace hs::simulator
