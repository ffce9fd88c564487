// Containers: which containers there are.
//
// The threads of a port share a ContainerSource: where the table of containers is, and what was read
// there last. Each thread that serves keys has a Containers, through which its requests see that. When
// some time has gone by since the last look, or when somebody has asked for it, one of them reads the
// table, through its own store, before it executes a request with a key. So there is no thread for it.
// If the table cannot be read for the moment, what was known stays; if nothing was, the request waits.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/setting.h"
#include "base/short_bytes.h"
#include "keys/clock.h"
#include "keys/container.h"
#include "keys/key.h"
#include "keys/open_rows.h"
#include "store/store.h"

namespace hs::keys {

// What was read, as it was read. Nobody changes it.
struct ContainerSet {
  static constexpr const char* default_delimiter = ".";

  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  std::unordered_map<std::string, std::shared_ptr<const Container>, Hash, std::equal_to<>> known{};
  std::shared_ptr<const Container> by_default{};  // null: there is none
  // Of each row that declares none, its name and why.
  std::vector<std::pair<std::string, std::string>> mistakes{};
  // Behind a container's name where memcached's clients write it in front of a key.
  std::string delimiter = default_delimiter;
  std::uint64_t generation = 0;  // another number after each change
  // The sizes of the names, each as one bit, so that most keys need no search for theirs.
  std::uint64_t name_sizes = 0;

  static std::uint64_t bit_of_size(std::string_view name) {
    return std::uint64_t{1} << (name.size() % 64);
  }
  void add(std::shared_ptr<const Container> container) {
    name_sizes |= bit_of_size(container->name);
    known.emplace(container->name, std::move(container));
  }
  // Null: there is none of this name.
  const std::shared_ptr<const Container>& find(std::string_view name) const {
    static const std::shared_ptr<const Container> none;
    if ((name_sizes & bit_of_size(name)) == 0) return none;
    const auto found = known.find(name);
    return found == known.end() ? none : found->second;
  }
};

// The names are set before the threads start. Any thread may use the rest.
class ContainerSource {
 public:
  std::string database{};  // empty: there are no containers
  std::string table{};

  // The cas of an item that comes into being: no earlier item with its key has had it, however often it
  // was changed. It is a time in microseconds, or somewhat more.
  std::uint64_t next_cas(std::int64_t now_ms) const {
    constexpr std::uint64_t us_per_ms = 1000;
    constexpr std::uint64_t changes = 1024;  // of an item, before another one takes its place
    std::uint64_t latest = latest_cas_.load(std::memory_order_relaxed);
    std::uint64_t next = 0;
    do {
      next = std::max(latest + changes, static_cast<std::uint64_t>(now_ms) * us_per_ms);
    } while (!latest_cas_.compare_exchange_weak(latest, next, std::memory_order_relaxed));
    return next;
  }

  // Has the table be read before the next request.
  void ask() const { asked_.fetch_add(1, std::memory_order_relaxed); }
  // What there is, for people: each row of the table, and why it cannot be used, if it cannot.
  struct Judged {
    std::string name;
    std::string mistake;                         // empty: there is none
    std::shared_ptr<const Container> container;  // null: the row declares none

    friend bool operator==(const Judged&, const Judged&) = default;
  };
  using Judgement = std::vector<Judged>;
  std::shared_ptr<const Judgement> judgement() const { return judgement_.get(); }
  // Called with a mistake that was not there at the last look.
  std::function<void(const Judged&)> note_mistake{};

 private:
  friend class Containers;

  mutable std::atomic<std::uint64_t> asked_ = 0;
  mutable std::atomic<std::uint64_t> answered_ = 0;
  mutable std::atomic<std::int64_t> read_ms_ = 0;
  mutable std::atomic<bool> was_read_ = false;  // at least once since the server's start
  mutable std::atomic<std::uint64_t> generation_ = 0;
  mutable std::mutex publishing_;
  mutable std::atomic<std::uint64_t> latest_cas_ = 0;
  mutable std::atomic<bool> must_judge_ = false;
  mutable std::atomic<std::int64_t> judged_ms_ = 0;
  mutable SharedSetting<const Judgement> judgement_ = std::make_shared<const Judgement>();
  mutable SharedSetting<const ContainerSet> current_ = std::make_shared<const ContainerSet>();
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

  // Before a request with keys: which containers there are now. If they have changed, what `rows` has
  // opened for them is closed. The store has begun a pass. The outcome is not ok only if the request has
  // to be asked again.
  store::Outcome look(store::Store& store, OpenRows& rows) {
    if (source_.database.empty() || has_looked_now()) [[likely]]
      return {};
    const std::uint64_t before = generation();
    const bool reads = is_due();
    follow();
    const store::Outcome outcome = reads ? read(store, rows) : store::Outcome();
    if (generation() != before) [[unlikely]]
      rows.forget_all();
    if (outcome.ok() && source_.was_read_.load(std::memory_order_relaxed))
      looked_ms_ = clock_.now_ms();
    return outcome;
  }

  // What the key names. A container's name and a colon come first, or it is of the default container.
  // With one, a name with a full stop or an at sign before the first colon is still a row's.
  ItemKey resolve(std::string_view key) const;
  // Null: there is none of this name.
  const std::shared_ptr<const Container>& find(std::string_view name) const {
    if (found_last_ != nullptr && are_equal((*found_last_)->name, name)) return *found_last_;
    const std::shared_ptr<const Container>& found = set_->find(name);
    if (found != nullptr) found_last_ = &found;
    return found;
  }
  // Null: there is none.
  const std::shared_ptr<const Container>& by_default() const { return set_->by_default; }
  std::string_view delimiter() const { return set_->delimiter; }
  std::uint64_t generation() const { return set_->generation; }
  std::uint64_t next_cas() { return source_.next_cas(clock_.now_ms()); }

 private:
  static constexpr std::int64_t period_ms = 1000;
  static constexpr std::size_t most = 1000;

  // Whether the last look was at this time, and nobody has asked for another one or has read since.
  bool has_looked_now() {
    return looked_ms_ == clock_.now_ms() &&
           source_.asked_.load(std::memory_order_relaxed) ==
               source_.answered_.load(std::memory_order_relaxed) &&
           source_.generation_.load(std::memory_order_acquire) == set_->generation;
  }
  // Takes over what another thread has read.
  void follow() {
    if (source_.generation_.load(std::memory_order_acquire) != set_->generation) [[unlikely]]
      take(source_.current_.get());
  }
  void take(std::shared_ptr<const ContainerSet> set) {
    found_last_ = nullptr;
    set_ = std::move(set);
  }
  bool is_due();
  store::Outcome read(store::Store& store, OpenRows& rows);
  store::Outcome put_off(store::Outcome outcome);
  void note_read(std::uint64_t asked);
  // Whether it is another one than before.
  bool publish(ContainerSet set);
  bool is_time_to_judge();
  void judge(store::Store& store, OpenRows& rows);

  const ContainerSource& source_;
  Clock& clock_;
  std::shared_ptr<const ContainerSet> set_ = source_.current_.get();
  std::int64_t looked_ms_ = -1;
  // In the set, which never changes. The next key is mostly of the same container.
  mutable const std::shared_ptr<const Container>* found_last_ = nullptr;
};

}  // namespace hs::keys
