// Clock: the time of day by which items expire.
//
// Each thread that serves keys has one. It asks the system once for each turn of a connection, so that
// a pipeline of reads does not ask for each of them.
#pragma once

#include <chrono>
#include <cstdint>

namespace hs::keys {

class Clock {
 public:
  using Ask = std::int64_t (*)();  // milliseconds since 1970, UTC

  explicit Clock(Ask ask = system_ms) : ask_(ask) {}

  std::int64_t now_ms() {
    if (now_ == 0) now_ = ask_();
    return now_;
  }
  // Some time has gone by: a turn has begun, or a lock was waited for.
  void forget() { now_ = 0; }

  static std::int64_t system_ms() {
    const auto now = std::chrono::system_clock::now().time_since_epoch();
    return std::chrono::duration_cast<std::chrono::milliseconds>(now).count();
  }

 private:
  const Ask ask_;
  std::int64_t now_ = 0;
};

}  // namespace hs::keys
