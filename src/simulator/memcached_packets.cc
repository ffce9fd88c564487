// What a memcached client asks in the binary protocol, and the replies in all forms.
#include <array>
#include <charconv>
#include <utility>

#include "memcached/protocol/binary_packet.h"
#include "memcached/protocol/errors.h"
#include "simulator/faulty_rows.h"
#include "simulator/memcached_script.h"
#include "simulator/memcached_texts.h"

namespace hs::simulator {
namespace {

using memcached::BinaryHeader;
using memcached::Code;

enum Opcode : std::uint8_t {
  get = 0x00,
  set = 0x01,
  add = 0x02,
  erase = 0x04,
  increment = 0x05,
  append = 0x0e,
  set_quietly = 0x11,
};

template <class Number>
std::string big(Number number) {
  std::array<char, sizeof(Number)> bytes{};
  memcached::write_big(bytes.data(), number);
  return {bytes.data(), bytes.size()};
}

bool is_packet(std::string_view received) {
  return static_cast<unsigned char>(received[0]) == BinaryHeader::reply_magic;
}

Code status_of(std::string_view reply) {
  return static_cast<Code>(memcached::read_header(reply).status);
}

// What is not there is not created.
constexpr std::uint32_t no_new_item = 0xffffffff;

}  // namespace

void MemcachedScript::ask_packet(const Packet& packet, Asked asked) {
  const std::size_t body = packet.extras.size() + packet.key.size() + packet.value.size();
  std::string bytes(BinaryHeader::size, '\0');
  memcached::write_reply_header(bytes.data(),
                                {.opcode = packet.opcode,
                                 .key = static_cast<std::uint16_t>(packet.key.size()),
                                 .extras = static_cast<std::uint8_t>(packet.extras.size()),
                                 .body = static_cast<std::uint32_t>(body),
                                 .opaque = ++last_opaque_});
  bytes[0] = '\x80';
  const auto check = [opaque = last_opaque_,
                      next = std::move(asked.on_reply)](std::string_view reply) {
    require(memcached::read_header(reply).opaque == opaque, "a reply has the wrong opaque");
    if (next) next(reply);
  };
  asked.on_reply = check;
  asked.opaque = last_opaque_;
  ask(bytes + packet.extras + packet.key + packet.value, std::move(asked));
}

void MemcachedScript::ask_packet() {
  const std::string key = item_key();
  const std::string value = std::to_string(world_.below(1000));
  const auto flags = static_cast<std::uint32_t>(world_.below(10));
  const auto put = [=](OwnState& state, const Executed& how) {
    state.items[key] = {.value = value, .flags = flags};
    return in_bytes(digest(Code::ok), how);
  };
  const std::string of_store = big(flags) + big(std::uint32_t{0});
  switch (world_.below(7)) {
    case 0: ask_packet({set, key, of_store, value}, {.own = put}); return;
    case 1: ask_packet({set_quietly, key, of_store, value}, {.own = put, .is_quiet = true}); break;
    case 2:
      ask_packet({add, key, of_store, value}, {.own = [=](OwnState& state, const Executed& how) {
                   if (state.items.contains(key)) return in_bytes(digest(Code::exists), how);
                   return put(state, how);
                 }});
      return;
    case 3:
      ask_packet({.opcode = erase, .key = key}, {.own = [=](OwnState& state, const Executed& how) {
                   const bool was_there = state.items.erase(key) != 0;
                   return in_bytes(digest(was_there ? Code::ok : Code::not_found), how);
                 }});
      return;
    case 4:
      ask_packet({.opcode = append, .key = key, .value = "x"},
                 {.own = [=](OwnState& state, const Executed& how) {
                   const auto item = state.items.find(key);
                   if (item == state.items.end()) return in_bytes(digest(Code::not_stored), how);
                   item->second.value += "x";
                   return in_bytes(digest(Code::ok), how);
                 }});
      return;
    default: break;
  }
  ask_packet({.opcode = get, .key = key}, {.own = [=](OwnState& state, const Executed& how) {
               const auto item = state.items.find(key);
               if (item == state.items.end()) return in_bytes(digest(Code::not_found), how);
               return in_bytes(digest(Code::ok, item->second.value), how);
             }});
}

void MemcachedScript::ask_shared_packet() {
  const std::size_t number = world_.below(SharedCounters::strings);
  counters().shared().asked(number);
  const auto check = [this, number](std::string_view reply) {
    require(status_of(reply) == Code::ok && reply.size() == BinaryHeader::size + 8,
            "an addition was answered with " + digest_of(reply));
    counters().acknowledged(number,
                            memcached::read_big<std::uint64_t>(reply.substr(BinaryHeader::size)));
  };
  ask_packet(
      {.opcode = increment,
       .key = SharedCounters::key(number),
       .extras = big(std::uint64_t{1}) + big(std::uint64_t{0}) + big(no_new_item)},
      {.on_reply = check, .on_refusal = [this, number] { counters().shared().refused(number); }});
}

// A quiet packet is answered only if it has failed, or has found something. If its commit has failed, nobody
// knows its opaque any more. A meta request shows its own, unless it has failed.
bool MemcachedScript::is_of_quiet(const Asked& quiet, std::string_view reply) const {
  if (is_binary_) {
    const std::uint32_t opaque = memcached::read_header(reply).opaque;
    return opaque == 0 || opaque == quiet.opaque;
  }
  if (!quiet.tells_by_silence) return false;
  const std::string_view line = reply.substr(0, reply.find('\n'));
  return refusal_of(reply) != Refusal::none ||
         line.ends_with(" O" + std::to_string(quiet.opaque) + "\r");
}

bool MemcachedScript::is_of_any_quiet(std::string_view reply) const {
  return !is_binary_ || memcached::read_header(reply).opaque == 0;
}

// Items come one after the other, and the line behind the last one ends the reply.
std::size_t MemcachedScript::reply_size(std::string_view received) const {
  if (received.empty()) return 0;
  if (is_packet(received)) {
    if (received.size() < BinaryHeader::size) return 0;
    const std::size_t size = BinaryHeader::size + memcached::read_header(received).body;
    return received.size() < size ? 0 : size;
  }
  std::size_t begin = 0;
  for (;;) {
    const std::size_t line_end = received.find("\r\n", begin);
    if (line_end == received.npos) return 0;
    const std::string_view line = received.substr(begin, line_end - begin);
    const bool is_value = line.starts_with("VALUE ");
    const std::size_t head = line_end + 2;
    if (!is_value && !line.starts_with("VA ")) return head;
    std::string_view rest = line.substr(line.find(' ') + 1);
    if (is_value) rest = rest.substr(rest.find(' ', rest.find(' ') + 1) + 1);
    const std::size_t end = head + number_of(rest) + 2;
    if (received.size() < end) return 0;
    if (!is_value) return end;
    begin = end;
  }
}

KeyScript::Refusal MemcachedScript::refusal_of(std::string_view reply) const {
  if (is_packet(reply)) {
    switch (status_of(reply)) {
      case Code::internal: return Refusal::commit_failed;
      case Code::try_again: return Refusal::late;
      case Code::no_memory: return Refusal::no_room;
      default: return Refusal::none;
    }
  }
  // Items that were found before it may stand in front.
  const std::size_t line = reply.rfind('\n', reply.size() - 2);
  const std::string_view last = reply.substr(line == reply.npos ? 0 : line + 1);
  if (last.starts_with("SERVER_ERROR 1180 ")) return Refusal::commit_failed;
  if (last.starts_with("SERVER_ERROR try again: the table")) return Refusal::late;
  if (last.starts_with("SERVER_ERROR too many bytes")) return Refusal::no_room;
  return Refusal::none;
}

}  // namespace hs::simulator
