// MemcachedScript: a client of memcached's protocol, in text with meta commands among them, or in binary.
//
// It asks for items of the container `default`, some of them without an answer, for very many at once and in
// quiet series, and adds to the shared strings, also by comparing the cas of what it has read.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "simulator/key_script.h"

namespace hs::simulator {

class MemcachedScript final : public KeyScript {
 public:
  MemcachedScript(World& world, const Faults& faults, const Tables& tables, SharedCounters& shared,
                  ClientKind kind, std::uint64_t number)
      : KeyScript(world, faults, tables, shared, kind, number),
        is_binary_(world.chance(30) && !faults.strangers) {}

 private:
  struct Packet {
    std::uint8_t opcode;
    std::string key{};
    std::string extras{};
    std::string value{};
  };

  void ask_burst(std::size_t most) override;
  void ask_log_in() override;
  std::size_t reply_size(std::string_view received) const override;
  Refusal refusal_of(std::string_view reply) const override;
  bool is_of_quiet(const Asked& quiet, std::string_view reply) const override;
  bool is_of_any_quiet(std::string_view reply) const override;
  bool quiet_ones_can_fail_unseen() const override { return !is_binary_; }

  // memcached_script.cc
  void ask_own(const std::string& line, OwnThings::Execute execute);
  void ask_quietly(const std::string& line, const std::string& key, OwnThings::Execute execute);
  void ask_to_store();
  void ask_to_read();
  void ask_to_change();
  void ask_meta();
  void ask_to_compare();
  void ask_shared();
  void ask_compared();

  // memcached_series.cc
  void ask_for_very_many();
  void ask_to_touch();
  void ask_series();
  void ask_packet_series();

  // memcached_packets.cc
  void ask_packet();
  void ask_shared_packet();
  void ask_packet(const Packet& packet, Asked asked);

  const bool is_binary_;
  std::uint32_t last_opaque_ = 0;
  // The shared string that was read with its cas, and what it was.
  std::optional<std::size_t> compared_{};
  std::uint64_t compared_sum_ = 0;
  std::string compared_cas_{};
};

}  // namespace hs::simulator
