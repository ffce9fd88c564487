// Loaded into a server before everything else (LD_PRELOAD): makes one allocation of a given size fail.
//
// The file that HS_NO_MEMORY names contains "SMALLEST LARGEST SKIPPED". Of the allocations of such
// a size in the plugin's threads, the first SKIPPED succeed, and the next one fails, whoever makes
// it. Then the file is deleted. If only one text has such a length, nothing else is affected: an
// engine gives up if it finds no memory, and that is not what is tested. One thread at a time.
#include <dlfcn.h>
#include <pthread.h>

#include <array>
#include <cerrno>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "read_numbers.h"

namespace {

// The file is read only for allocations that are at least so large.
constexpr std::size_t smallest_looked_at = 100'000;

template <class Function>
Function next(const char* name) {
  return reinterpret_cast<Function>(dlsym(RTLD_NEXT, name));
}

bool is_plugins_thread() {
  char name[16];
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
         std::strncmp(name, "hs-", 3) == 0;
}

bool must_fail(std::size_t size) {
  if (size < smallest_looked_at || !is_plugins_thread()) return false;
  const char* const name = std::getenv("HS_NO_MEMORY");
  std::FILE* const file = name == nullptr ? nullptr : std::fopen(name, "r+");
  if (file == nullptr) return false;
  std::array<std::size_t, 3> numbers{};
  const bool is_whole = read_numbers(file, numbers);
  const auto [smallest, largest, skipped] = numbers;
  const bool counts = is_whole && smallest <= size && size <= largest;
  const bool fails = counts && skipped == 0;
  if (fails) {
    std::remove(name);
  } else if (counts) {
    std::rewind(file);
    std::fprintf(file, "%zu %zu %zu \n", smallest, largest, skipped - 1);
  }
  std::fclose(file);
  return fails;
}

}  // namespace

extern "C" void* malloc(std::size_t size) {
  static const auto real = next<void* (*)(std::size_t)>("malloc");
  if (must_fail(size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(size);
}

extern "C" void* realloc(void* memory, std::size_t size) {
  static const auto real = next<void* (*)(void*, std::size_t)>("realloc");
  if (must_fail(size)) {
    errno = ENOMEM;
    return nullptr;
  }
  return real(memory, size);
}
