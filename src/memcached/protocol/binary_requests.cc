// Requests of the binary protocol: a header, and behind it extras, a key and a value.
#include <cstddef>
#include <cstdint>

#include "memcached/protocol/binary_packet.h"
#include "memcached/protocol/request_reader.h"

namespace hs::memcached {
namespace {

using Has = BinaryCommand::Has;

constexpr std::size_t most_credentials = 1024;
// The exptime of a sum that creates nothing.
constexpr std::uint32_t creates_nothing = 0xffffffff;

bool is_right(const BinaryCommand& command, const BinaryHeader& header, std::size_t value) {
  if (command.has == Has::perhaps_exptime)
    return (header.extras == 0 || header.extras == 4) && header.key == 0 && value == 0;
  if (header.extras != command.extras || header.key > most_key_bytes) return false;
  switch (command.has) {
    case Has::key: return header.key != 0 && value == 0;
    case Has::key_and_value: return header.key != 0;
    case Has::perhaps_key: return value == 0;
    default: return header.key == 0 && value == 0;
  }
}

}  // namespace

RequestReader::Found RequestReader::read_binary(std::string_view input,
                                                const RequestLimits& limits) {
  if (static_cast<unsigned char>(input[0]) != binary_begin) return Found::ends;
  if (input.size() < BinaryHeader::size) return Found::incomplete;
  const BinaryHeader header = read_header(input);
  size_ = BinaryHeader::size;
  request_.form = Form::binary;
  request_.opcode = header.opcode;
  request_.opaque = header.opaque;
  const std::size_t before_value = std::size_t{header.key} + header.extras;
  const BinaryCommand* const command = find_binary_command(header.opcode);
  if (before_value > header.body) {
    ends_ = true;
    fail(Mistake::unknown);
    return Found::request;
  }
  const bool may_come =
      command != nullptr &&
      (command->action == Action::version || command->action == Action::quit ||
       (command->action >= Action::log_in && command->action <= Action::log_in_step));
  if (limits.must_log_in && !may_come) {
    ends_ = true;
    fail(Mistake::unauthenticated);
    return Found::request;
  }
  if (command == nullptr) {
    thrown_away_ = header.body;
    fail(Mistake::unknown);
    return Found::request;
  }
  const std::size_t value = header.body - before_value;
  const bool stores = stores_value(command->action);
  const bool is_log_in =
      command->action == Action::log_in || command->action == Action::log_in_step;
  if (!is_right(*command, header, value) || (is_log_in && value > most_credentials)) {
    ends_ = true;
    fail(Mistake::bad_arguments);
    return Found::request;
  }
  if (stores && value > limits.most_value_bytes) {
    thrown_away_ = header.body;
    fail(Mistake::value_size);
    return Found::request;
  }
  if (input.size() - size_ < header.body) return Found::incomplete;
  size_ += header.body;
  request_.action = command->action;
  request_.is_quiet = command->is_quiet;
  request_.shows_key = command->shows_key;
  request_.shows_cas = true;
  request_.shows_value = command->action != Action::touch;
  request_.key = input.substr(BinaryHeader::size + header.extras, header.key);
  request_.value = input.substr(BinaryHeader::size + before_value, value);
  const bool touches = command->action == Action::touch || command->action == Action::touch_and_get;
  if (header.cas != 0 && !touches) request_.compared = header.cas;
  // Whatever stores a value, with a cas it is memcached's cas: only an item that is there has one.
  if (request_.compared && command->action == Action::add) request_.action = Action::set;
  read_extras(input.substr(BinaryHeader::size, header.extras));
  return Found::request;
}

void RequestReader::read_extras(std::string_view extras) {
  switch (request_.action) {
    case Action::set:
    case Action::add:
    case Action::replace:
      request_.flags = read_big<std::uint32_t>(extras);
      // Without a sign, as memcached has it: no time is over at once.
      request_.exptime = read_big<std::uint32_t>(extras.substr(4));
      return;
    case Action::increment:
    case Action::decrement: {
      request_.delta = read_big<std::uint64_t>(extras);
      request_.initial = read_big<std::uint64_t>(extras.substr(8));
      const auto exptime = read_big<std::uint32_t>(extras.substr(16));
      request_.creates = exptime != creates_nothing;
      request_.exptime_of_new = exptime;
      return;
    }
    case Action::touch:
    case Action::touch_and_get:
      request_.has_exptime = true;
      request_.exptime = read_big<std::uint32_t>(extras);
      return;
    case Action::flush:
      if (!extras.empty()) request_.exptime = read_big<std::uint32_t>(extras);
      return;
    default: return;
  }
}

}  // namespace hs::memcached
