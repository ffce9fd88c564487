// Transaction: the commands that wait for EXEC.
//
// A dialogue has one from MULTI on. It owns the words of its commands. They are only added, or all given
// up, so a pass that is executed again knows how many there were. The bytes of all connections of a port
// together have a bound.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "redis/protocol/commands.h"
#include "redis/session/config.h"

namespace hs::redis {

class Transaction {
 public:
  explicit Transaction(QueuedBytes& queued) : queued_(queued) {}
  Transaction(const Transaction&) = delete;
  Transaction& operator=(const Transaction&) = delete;
  ~Transaction() { queued_.give_back(charged_); }

  // False: too many bytes wait already, or it has too many commands that tell of the server. Nothing was
  // added then.
  [[nodiscard]] bool add(const CommandInfo& info, std::span<const std::string_view> words) {
    std::size_t bytes = sizeof(Queued) + words.size() * sizeof(std::size_t);
    for (const std::string_view word : words) bytes += word.size();
    if (is_slow(info) && slow_commands_ == most_slow_commands) return false;
    if (!queued_.take(bytes)) return false;
    slow_commands_ += is_slow(info) ? 1 : 0;
    for (const std::string_view word : words) {
      bytes_ += word;
      ends_.push_back(bytes_.size());
    }
    commands_.push_back({&info, words.size(), bytes});
    charged_ += bytes;
    has_writes_ = has_writes_ || writes(info.effect);
    return true;
  }
  std::size_t size() const { return commands_.size(); }
  // Forgets the latest ones.
  void truncate(std::size_t size) {
    while (commands_.size() > size) {
      const Queued& last = commands_.back();
      ends_.resize(ends_.size() - last.words);
      queued_.give_back(last.bytes);
      charged_ -= last.bytes;
      slow_commands_ -= is_slow(*last.info) ? 1 : 0;
      commands_.pop_back();
    }
    bytes_.resize(ends_.empty() ? 0 : ends_.back());
  }

  bool has_writes() const { return has_writes_; }
  // How many of its commands have no key and are not fast: those that tell of the server.
  std::size_t slow_commands() const { return slow_commands_; }
  // How many keys its commands name. A scan is about one at least.
  std::size_t keys() const {
    std::size_t count = 0;
    for (const Queued& one : commands_) {
      count += keys_of(*one.info, one.words).count;
      if (one.info->command == Command::scan) ++count;
    }
    return count;
  }

  template <class Visit>
  void for_each_command(Visit visit) const {
    for (const Queued& one : commands_) visit(one.info->command);
  }
  // Calls `execute(info, words)` for each command, until it returns false. `words` is overwritten.
  template <class Execute>
  void for_each(std::vector<std::string_view>& words, Execute execute) const {
    std::size_t word = 0;
    std::size_t begin = 0;
    for (const Queued& one : commands_) {
      words.clear();
      for (std::size_t i = 0; i < one.words; ++i, ++word) {
        words.push_back(std::string_view(bytes_).substr(begin, ends_[word] - begin));
        begin = ends_[word];
      }
      if (!execute(*one.info, words)) return;
    }
  }

 private:
  struct Queued {
    const CommandInfo* info;
    std::size_t words;
    std::size_t bytes;  // that were charged for it
  };
  // They name no rows, so no bound of rows ends them. So many take a few milliseconds.
  static constexpr std::size_t most_slow_commands = 1000;

  static bool is_slow(const CommandInfo& info) {
    return info.effect == Effect::none && !info.has_flag(CommandFlags::fast);
  }

  QueuedBytes& queued_;
  std::size_t charged_ = 0;
  std::size_t slow_commands_ = 0;
  bool has_writes_ = false;
  std::string bytes_;
  std::vector<std::size_t> ends_;  // of the words in bytes_
  std::vector<Queued> commands_;
};

}  // namespace hs::redis
