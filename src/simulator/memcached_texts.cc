#include "simulator/memcached_texts.h"

#include <optional>

#include "memcached/protocol/binary_packet.h"

namespace hs::simulator {
namespace {

using memcached::BinaryHeader;
using memcached::Code;

constexpr std::uint64_t ms_per_second = 1000;

}  // namespace

void change_cas(OwnItem& item) {
  if (item.cas) ++*item.cas;
}

void set_item(OwnState& state, const std::string& key, const std::string& value,
              std::uint32_t flags) {
  const auto found = state.items.find(key);
  std::optional<std::uint64_t> cas;
  if (found != state.items.end()) cas = found->second.cas;
  OwnItem& item = state.items[key] = {.value = value, .flags = flags, .cas = cas};
  change_cas(item);
}

void expire_item(OwnItem& item, std::uint64_t seconds, const Executed& how) {
  item.first_expiry = item.last_expiry = 0;
  if (seconds == 0) return;
  item.first_expiry = (how.earliest_ms / ms_per_second + seconds) * ms_per_second;
  item.last_expiry = (how.latest_ms / ms_per_second + 1 + seconds) * ms_per_second;
}

std::string block(const std::string& key, const OwnItem& item, const std::string& cas) {
  return "VALUE " + key + ' ' + std::to_string(item.flags) + ' ' +
         std::to_string(item.value.size()) + cas + "\r\n" + item.value + "\r\n";
}

std::string digest(Code code, std::string_view value) {
  return std::to_string(static_cast<unsigned>(code)) + ' ' +
         (code == Code::ok ? std::string(value) : "");
}

std::string digest_of(std::string_view reply) {
  const BinaryHeader header = memcached::read_header(reply);
  return digest(static_cast<Code>(header.status), reply.substr(BinaryHeader::size + header.extras));
}

std::string in_bytes(const std::string& expected, const Executed& how) {
  const bool is_packet_there = how.reply.size() >= BinaryHeader::size;
  return is_packet_there && digest_of(how.reply) == expected ? std::string(how.reply) : expected;
}

}  // namespace hs::simulator
