// Setting: a value of a configuration that may change while it is in use.
//
// Any thread may read it, at the price of a plain variable. One thread at a time sets it. It is
// copied with its configuration; the copy is a setting of its own.
#pragma once

#include <atomic>

namespace hs {

template <class T>
class Setting {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  constexpr Setting(T value) : value_(value) {}
  Setting(const Setting& other) : value_(other.get()) {}
  Setting& operator=(const Setting& other) { return *this = other.get(); }
  Setting& operator=(T value) {
    value_.store(value, std::memory_order_relaxed);
    return *this;
  }

  T get() const { return value_.load(std::memory_order_relaxed); }

 private:
  std::atomic<T> value_;
};

}  // namespace hs
