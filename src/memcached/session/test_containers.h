// TestContainers: a server with containers, for the tests and the fuzzer of this folder.
//
// `default` has all columns that a container may have. `two` has a key and a value of two columns, and
// nothing else. Its clock stands still.
#pragma once

#include <cstdint>

#include "memcached/session/test_client.h"

namespace hs::memcached {

struct TestContainers : TestServer {
  explicit TestContainers(store::MemoryBounds bounds = {});

  static std::int64_t now_ms;
};

}  // namespace hs::memcached
