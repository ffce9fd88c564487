// Any bytes are requests, mistakes, or incomplete, and the same ones however they are cut. All memory of
// a request may be read.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "memcached/protocol/reply.h"
#include "memcached/protocol/request_reader.h"

namespace hs::memcached {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

std::string told_of(const Request& request) {
  std::string told = std::to_string(static_cast<int>(request.action)) + ' ';
  told.append(request.key).push_back('|');
  told.append(request.value).push_back('|');
  std::string_view more = request.more_keys;
  for (std::string_view key = take_word(more); !key.empty(); key = take_word(more)) {
    require(request.action == Action::mistake || key.size() <= most_key_bytes);
    told.append(key).push_back('|');
  }
  require(request.action == Action::mistake || request.key.size() <= most_key_bytes);
  require((request.action == Action::mistake) == !request.mistake.ok());
  Credentials credentials;
  if (request.action == Action::log_in && read_credentials(request, credentials))
    told.append(credentials.user).append(credentials.password);
  Buffer out;
  Reply reply(out);
  if (request.action == Action::mistake) {
    reply.error(request, request.mistake);
  } else {
    reply.item(request, request.key, {.flags = 1, .cas = 2, .value = "value"});
    reply.no_item(request, request.key);
    reply.change(request, {.result = Result::exists});
    reply.change(request, {.number = 5});
  }
  return told.append(out.view());
}

// All requests, and how it ended.
std::string read_in_pieces(std::string_view bytes, bool must_log_in, std::size_t piece) {
  using Found = RequestReader::Found;
  const RequestLimits limits{.most_value_bytes = 10'000, .must_log_in = must_log_in};
  const bool is_binary =
      !bytes.empty() && static_cast<unsigned char>(bytes[0]) == RequestReader::binary_begin;
  RequestReader reader;
  std::string input;
  std::string told;
  std::size_t thrown_away = 0;
  std::size_t scanned = 0;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    input += bytes.substr(at, piece);
    while (true) {
      const std::size_t skipped = std::min(thrown_away, input.size());
      input.erase(0, skipped);
      thrown_away -= skipped;
      const Found found = reader.read(input, is_binary, limits, scanned);
      scanned = found == Found::incomplete ? input.size() : 0;
      if (found == Found::incomplete) break;
      if (found == Found::ends) return told + "!";
      require(reader.size() != 0 && reader.size() <= input.size());
      told += told_of(reader.request()) + '\n';
      if (reader.ends()) return told + ".";
      thrown_away = reader.thrown_away();
      input.erase(0, reader.size());
    }
  }
  return told + std::to_string(input.size()) + '+' + std::to_string(thrown_away);
}

}  // namespace
}  // namespace hs::memcached

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size == 0) return 0;
  const bool must_log_in = (data[0] & 1) != 0;
  const std::string_view bytes(reinterpret_cast<const char*>(data) + 1, size - 1);
  const std::string whole = hs::memcached::read_in_pieces(bytes, must_log_in, size + 1);
  if (hs::memcached::read_in_pieces(bytes, must_log_in, 1) != whole) std::abort();
  if (hs::memcached::read_in_pieces(bytes, must_log_in, 7) != whole) std::abort();
  return 0;
}
