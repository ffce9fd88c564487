// Loaded into a server before everything else (LD_PRELOAD): makes the plugin's own allocations fail.
//
// As long as the file that HS_NO_MEMORY names exists, allocations fail: of the allocations that the
// plugin itself makes by `new` in its threads, about one in N throws, and N is the number in the
// file. The server's own allocations succeed: an engine gives up if it finds no memory, and that is
// not what is tested.
#include <dlfcn.h>
#include <pthread.h>

#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <new>

#include "read_numbers.h"

namespace {

std::atomic<unsigned> count{0};

unsigned one_of() {
  const char* const name = std::getenv("HS_NO_MEMORY");
  if (name == nullptr) return 0;
  std::FILE* const file = std::fopen(name, "r");
  if (file == nullptr) return 0;
  std::size_t number = 0;
  if (!read_numbers(file, {&number, 1})) number = 0;
  std::fclose(file);
  return static_cast<unsigned>(number);
}

bool is_plugins_thread() {
  char name[16];
  return pthread_getname_np(pthread_self(), name, sizeof name) == 0 &&
         std::strncmp(name, "hs-", 3) == 0;
}

bool is_plugin(void* code) {
  Dl_info info;
  return dladdr(code, &info) != 0 && info.dli_fname != nullptr &&
         std::strstr(info.dli_fname, "handlersocket2.so") != nullptr;
}

bool is_due(void* caller) {
  if (!is_plugins_thread() || !is_plugin(caller)) return false;
  const unsigned number = one_of();
  if (number == 0) return false;
  // Not exactly each n-th: a loop with n allocations in each round would always fail at the same
  // place.
  const unsigned mixed = (++count * 2654435761U) >> 7;
  return mixed % number == 0;
}

void* allocate(std::size_t size, void* caller) {
  if (is_due(caller)) throw std::bad_alloc();
  void* const memory = std::malloc(size == 0 ? 1 : size);
  if (memory == nullptr) throw std::bad_alloc();
  return memory;
}

}  // namespace

void* operator new(std::size_t size) { return allocate(size, __builtin_return_address(0)); }
void* operator new[](std::size_t size) { return allocate(size, __builtin_return_address(0)); }
void operator delete(void* memory) noexcept { std::free(memory); }
void operator delete[](void* memory) noexcept { std::free(memory); }
void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }
void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }
