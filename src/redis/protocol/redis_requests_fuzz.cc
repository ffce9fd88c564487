// Any bytes are requests, a mistake, or incomplete, and the same ones however they are cut. All memory of
// the words may be read. Any key is a row's or a mistake.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

#include "keys/key.h"
#include "redis/protocol/commands.h"
#include "redis/protocol/request_reader.h"

namespace hs::redis {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

// All words of all requests, and how it ended. What the reader keeps of requests makes no difference.
enum class Keeps : std::uint8_t { nothing, repeated };
std::string read_in_pieces(std::string_view bytes, std::size_t piece, Keeps keeps) {
  using Found = RequestReader::Found;
  const RequestLimits limits{.most_words = 1000, .most_bulk_bytes = 10'000};
  RequestReader reader;
  RequestProgress progress;
  std::string input;
  std::string told;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    input += bytes.substr(at, piece);
    while (true) {
      const Found found = reader.read(input, limits, progress);
      if (found == Found::incomplete) break;
      if (found == Found::mistake) return told + "!" + reader.mistake();
      require(reader.size() != 0 && reader.size() <= input.size());
      if (found == Found::request) {
        require(!reader.words().empty());
        if (keeps == Keeps::repeated) reader.keep_if_repeated();
        for (const std::string_view word : reader.words()) told.append(word).push_back('|');
        static_cast<void>(find_command(reader.words()[0]));
      }
      told.push_back('\n');
      input.erase(0, reader.size());
    }
    RequestProgress fresh;
    require(whole_requests(input) == 0 || reader.read(input, {}, fresh) == Found::mistake);
  }
  return told + std::to_string(input.size());
}

void read_key(std::string_view key) {
  const keys::SplitKey split = keys::split_key(key);
  keys::KeyNames names;
  if (keys::read_names(split.name, "db", names) != keys::KeyMistake::none) return;
  require(!names.database.empty() && !names.table.empty());
  using enum store::Spelling;
  store::IndexShape shape{.is_unique = true, .columns = {}, .key = {0, 1, 2}};
  for (const store::Spelling spelling : {text, decimal, date_and_time})
    shape.columns.push_back({.name = "c", .spelling = spelling, .decimals = 3});
  std::string room;
  std::vector<store::Value> values;
  if (keys::read_parts(split.parts, shape, room, values) == keys::KeyMistake::none)
    require(values.size() == 3);
}

}  // namespace
}  // namespace hs::redis

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using hs::redis::Keeps;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  const std::string whole = hs::redis::read_in_pieces(bytes, size + 1, Keeps::nothing);
  if (hs::redis::read_in_pieces(bytes, size + 1, Keeps::repeated) != whole) std::abort();
  if (hs::redis::read_in_pieces(bytes, 1, Keeps::nothing) != whole) std::abort();
  if (hs::redis::read_in_pieces(bytes, 7, Keeps::repeated) != whole) std::abort();
  hs::redis::read_key(bytes);
  return 0;
}
