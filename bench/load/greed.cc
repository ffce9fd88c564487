#include "load/greed.h"

#include <algorithm>
#include <array>

#include "load/options.h"

namespace hs::bench {
namespace {

constexpr std::array<std::string_view, 8> names{"filter",  "offset",      "in",     "ranges",
                                                "updates", "find-modify", "unread", "half"};

constexpr std::uint32_t absent_keys = 200'000;
constexpr std::uint64_t range_rows = 3'990;
constexpr std::uint64_t most_modified_rows = 100'000;
constexpr std::uint32_t unread_keys = 100'000;
// There are not more clients, and each asks for no more, because the original keeps each reply in
// memory.
constexpr std::uint32_t unread_clients = 4;
constexpr std::uint32_t half_clients = 16;
constexpr std::size_t half_size = std::size_t{16} << 20;
// If a value is larger than a megabyte, memcached refuses it as soon as it reads its size.
constexpr std::size_t memcached_value = 1'000'000;

bool one_of(Protocol protocol, std::initializer_list<Protocol> list) {
  return std::ranges::find(list, protocol) != list.end();
}

void set_shape(Options& options, std::uint32_t connections, std::uint32_t depth) {
  options.connections = connections;
  options.depth = depth;
}

std::uint64_t modified_rows(const Options& options) {
  return std::clamp<std::uint64_t>(options.keys.count / 10, 2, most_modified_rows);
}

void read_everything(Options& options) {
  set_shape(options, unread_clients, 1);
  if (options.protocol == Protocol::handlersocket) {
    options.limit = std::max<std::uint64_t>(options.keys.count, 2);
  } else if (options.protocol != Protocol::redis_hash) {
    options.keys_per_find =
        static_cast<std::uint32_t>(std::min<std::uint64_t>(options.keys.count, unread_keys));
  }
}

}  // namespace

std::string_view name_of(Greed greed) { return names[static_cast<std::size_t>(greed)]; }

std::optional<Greed> greed_of(std::string_view name) {
  const auto* found = std::ranges::find(names, name);
  if (found == names.end()) return std::nullopt;
  return static_cast<Greed>(found - names.begin());
}

std::string names_of_greed() {
  std::string list;
  for (const std::string_view name : names) {
    if (!list.empty()) list += ", ";
    list += name;
  }
  return list;
}

std::string refusal(Greed greed, const Options& options) {
  using enum Protocol;
  const Protocol protocol = options.protocol;
  switch (greed) {
    case Greed::filter:
      if (protocol != handlersocket) return "only handlersocket has filters";
      break;
    case Greed::offset:
      if (protocol != handlersocket) return "only handlersocket has an offset";
      break;
    case Greed::ranges:
      if (protocol != handlersocket) return "only handlersocket finds ranges";
      break;
    case Greed::find_modify:
      if (protocol != handlersocket) return "only handlersocket modifies what it finds";
      break;
    case Greed::in:
      if (!one_of(protocol, {handlersocket, memcached, redis}))
        return "this protocol asks for one key at a time";
      break;
    case Greed::unread:
      if (!one_of(protocol, {handlersocket, memcached, redis}))
        return "this protocol's replies are too short to be left unread";
      break;
    case Greed::half:
      if (protocol == mysqlx) return "mysqlx says how long a message is before it sends any of it";
      break;
    case Greed::updates: break;
  }
  return {};
}

bool stalls(Greed greed) { return greed == Greed::unread || greed == Greed::half; }

Options greedy_options(Greed greed, const Options& options) {
  Options own = options;
  own.mix = {.find = 100};
  own.keys.distribution = Distribution::sequential;
  own.keys_per_find = 1;
  own.limit = 1;
  own.check.clear();
  own.rate = 0;
  own.operations = 0;
  own.threads = 1;
  // It has its own numbers, so that it never writes what the light client has just written.
  own.first_number += 50'000'000'000;
  set_shape(own, 1, 1);
  switch (greed) {
    case Greed::filter:
      own.filter_column = own.columns.substr(0, own.columns.find(','));
      own.filter_value = "no row holds this";
      own.keys.count = 1;
      own.limit = 10;
      break;
    case Greed::offset:
      own.offset = own.keys.count / 10 * 9;
      own.keys.count = 1;
      own.limit = 10;
      break;
    case Greed::in:
      own.keys.first += own.keys.count;
      own.keys.count = own.keys_per_find = absent_keys;
      break;
    case Greed::ranges:
      set_shape(own, 1, 500);
      own.limit = range_rows;
      break;
    case Greed::updates:
      set_shape(own, 16, 100);
      own.keys.distribution = Distribution::uniform;
      own.mix = {.find = 0, .update = 100};
      break;
    case Greed::find_modify:
      own.mix = {.find = 0, .update = 100};
      own.modified_rows = modified_rows(options);
      own.keys.count = 1;
      break;
    case Greed::unread: read_everything(own); break;
    case Greed::half: set_shape(own, half_clients, 1); break;
  }
  return own;
}

Options light_options(Greed greed, const Options& options) {
  Options own = options;
  if (greed == Greed::find_modify && own.keys.count > modified_rows(options)) {
    own.keys.first += modified_rows(options);
    own.keys.count -= modified_rows(options);
  }
  return own;
}

std::string half_request(const Options& options) {
  std::string request;
  std::size_t size = half_size;
  switch (options.protocol) {
    case Protocol::redis:
    case Protocol::redis_hash:
      request = "*2\r\n$3\r\nGET\r\n$" + std::to_string(2 * half_size) + "\r\n";
      break;
    case Protocol::memcached:
    case Protocol::memcached_meta:
      request = "set half 0 0 " + std::to_string(memcached_value) + "\r\n";
      size = memcached_value / 2;
      break;
    case Protocol::mysqlx:
    case Protocol::handlersocket: request = "1\t=\t1\t"; break;
  }
  return request.append(size, 'x');
}

}  // namespace hs::bench
