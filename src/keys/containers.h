// Containers: which containers there are, as one thread knows it.
//
// Each thread that serves keys has one. It reads the table of containers through the thread's own store,
// when a request with a key comes and some time has gone by since the last look, or when somebody has
// asked for it. So there is no thread for it, no lock and no other place where the truth could be. If
// the table cannot be read for the moment, what was known stays.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "keys/clock.h"
#include "keys/container.h"
#include "keys/key.h"
#include "store/store.h"

namespace hs::keys {

// Where the containers are, for all threads of a port.
struct ContainerSource {
  std::string database{};  // empty: there are none
  std::string table{};
  // Another number: the table has to be read at once.
  std::atomic<std::uint64_t> asked = 0;
};
// Reads `database.table` of an option. False: it is no such name.
[[nodiscard]] bool read_source(std::string_view text, ContainerSource& source);

// A key within a container. Valid until the next look at the containers.
struct ItemKey {
  const Container* container = nullptr;  // null: the key is a row's, or nothing's
  std::string_view key{};
};

class Containers {
 public:
  Containers(const ContainerSource& source, Clock& clock) : source_(source), clock_(clock) {}

  // The store has begun a pass. The outcome is not ok only if the request has to be asked again.
  store::Outcome look(store::Store& store) {
    if (source_.database.empty() || !is_due()) [[likely]]
      return {};
    return read(store);
  }

  // What the key names. A container's name and a colon come first, or it is of the default container.
  // With one, a name with a full stop or an at sign before the first colon is still a row's.
  ItemKey resolve(std::string_view key) const;
  std::shared_ptr<const Container> find(std::string_view name) const;
  const std::shared_ptr<const Container>& by_default() const { return default_; }
  bool empty() const { return known_.empty(); }
  // Of each container that cannot be used, why.
  const std::vector<std::pair<std::string, std::string>>& mistakes() const { return mistakes_; }
  // Another number after each change.
  std::uint64_t generation() const { return generation_; }

 private:
  static constexpr std::int64_t period_ms = 1000;
  static constexpr std::size_t most = 1000;

  bool is_due() {
    return source_.asked.load(std::memory_order_relaxed) != asked_ ||
           clock_.now_ms() - read_ms_ >= period_ms || clock_.now_ms() < read_ms_;
  }
  store::Outcome read(store::Store& store);
  void take(std::vector<ContainerRow> rows, std::string_view separator);

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  using Known =
      std::unordered_map<std::string, std::shared_ptr<const Container>, Hash, std::equal_to<>>;

  const ContainerSource& source_;
  Clock& clock_;
  std::int64_t read_ms_ = 0;
  std::uint64_t asked_ = 0;
  std::uint64_t generation_ = 0;
  Known known_;
  std::shared_ptr<const Container> default_;
  std::vector<std::pair<std::string, std::string>> mistakes_;
};

}  // namespace hs::keys
