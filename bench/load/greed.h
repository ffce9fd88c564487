// Greed: the kinds of clients that ask for too much. Each kind is a load with its own options.
//
// The option --beside names them. Most kinds send ordinary but expensive requests, and a Client
// sends them. Two kinds stop where they should continue, and a Staller plays them. Plain functions,
// for any thread.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hs::bench {

struct Options;

enum class Greed : std::uint8_t {
  filter,       // a find whose filter no row passes
  offset,       // a find that skips nearly all rows
  in,           // a find of many keys that do not exist
  ranges,       // many finds of many rows, all sent together
  updates,      // many clients that send many updates together
  find_modify,  // one update of many rows
  unread,       // clients that ask for everything and read nothing
  half,         // clients that send long requests and never their ends
};

std::string_view name_of(Greed greed);
std::optional<Greed> greed_of(std::string_view name);
// The names of all kinds, for a message to a person.
std::string names_of_greed();

// Why the options' protocol cannot do it; empty if it can.
std::string refusal(Greed greed, const Options& options);

// Whether a Staller plays it.
bool stalls(Greed greed);

// The options of its load, on the server and the table of `options`.
Options greedy_options(Greed greed, const Options& options);

// The options of the light client beside it. The light client reads rows that the greedy one does
// not lock for long.
Options light_options(Greed greed, const Options& options);

// The beginning of a request whose rest never comes.
std::string half_request(const Options& options);

}  // namespace hs::bench
