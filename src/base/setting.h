// Setting: a value of a configuration that may change while it is in use.
//
// Any thread may read it, at the price of a plain variable. One thread at a time sets it. It is
// copied with its configuration; the copy is a setting of its own.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <utility>

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

// The same for what is shared. Who reads it takes a lock, so it is not for each request.
template <class T>
class SharedSetting {
 public:
  // NOLINTNEXTLINE(google-explicit-constructor)
  SharedSetting(std::shared_ptr<T> value) : value_(std::move(value)) {}
  SharedSetting(const SharedSetting& other) : value_(other.get()) {}
  SharedSetting& operator=(const SharedSetting& other) { return *this = other.get(); }
  SharedSetting& operator=(std::shared_ptr<T> value) {
    const std::lock_guard lock(mutex_);
    value_.swap(value);  // what it was is destroyed without the lock
    return *this;
  }

  std::shared_ptr<T> get() const {
    const std::lock_guard lock(mutex_);
    return value_;
  }

 private:
  mutable std::mutex mutex_;
  std::shared_ptr<T> value_;
};

}  // namespace hs
