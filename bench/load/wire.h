// Wire: one protocol, as a client speaks it, so that one loop can load every server in the same
// way.
//
// A Wire belongs to one client thread and writes requests. A ReplyCounter belongs to one connection
// and counts what comes back, in pieces of any size. Neither does I/O, and neither keeps a reply.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/buffer.h"

namespace hs::bench {

struct Options;

enum class Action : std::uint8_t { find, update, insert, read_modify_write, upsert };

// What came back since the program began, or since the caller last looked.
struct Tally {
  std::uint64_t replies = 0;
  std::uint64_t rows = 0;
  std::uint64_t errors = 0;
  std::uint64_t misses = 0;  // finds without a row
  std::string first_error;

  void error(std::string_view reply) {
    ++errors;
    if (first_error.empty()) first_error = reply.substr(0, max_error);
  }

 private:
  static constexpr std::size_t max_error = 200;
};

class ReplyCounter {
 public:
  virtual ~ReplyCounter() = default;
  // Called before a request is written. Only a counter that checks values needs it.
  virtual void expect(Action /*action*/, std::span<const std::uint64_t> /*keys*/) {}
  virtual void feed(std::string_view bytes, Tally& tally) = 0;
};

class Wire {
 public:
  virtual ~Wire() = default;
  // Appends what a new connection has to send first. Returns how many replies to it will come.
  virtual std::size_t greet(Buffer& out) = 0;
  // One request. Only a find and an insert may have more than one key.
  virtual void write(Buffer& out, Action action, std::span<const std::uint64_t> keys) = 0;
  virtual std::unique_ptr<ReplyCounter> counter() const = 0;
};

// `options` have to outlive the wire.
std::unique_ptr<Wire> make_wire(const Options& options);
std::unique_ptr<Wire> make_handlersocket_wire(const Options& options);
std::unique_ptr<Wire> make_memcached_wire(const Options& options);
std::unique_ptr<Wire> make_memcached_meta_wire(const Options& options);
std::unique_ptr<Wire> make_redis_wire(const Options& options);
std::unique_ptr<Wire> make_redis_hash_wire(const Options& options);
std::unique_ptr<Wire> make_mysqlx_wire(const Options& options);

}  // namespace hs::bench
