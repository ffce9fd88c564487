// RightsNumber: tells accounts apart by what they may do.
//
// Each account has one. Log-ins of one account that may do the same at any time have the same number,
// so that the server need not be asked about each of them. There are never more names of numbers than
// log-ins. Log-in threads make them, and any thread may end one.
#pragma once

#include <cstdint>
#include <string>

namespace hs::mysqld {

class RightsNumber {
 public:
  // The number of no other account as long as the process runs.
  RightsNumber();
  // The number of all that have this key at the moment. An empty key is that of nobody else.
  explicit RightsNumber(const std::string& key);
  ~RightsNumber();
  RightsNumber(const RightsNumber&) = delete;
  RightsNumber& operator=(const RightsNumber&) = delete;

  std::uint64_t get() const { return number_; }

 private:
  const std::string key_;
  const std::uint64_t number_;
};

}  // namespace hs::mysqld
