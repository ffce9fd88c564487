// Loaded into a server before everything else (LD_PRELOAD): makes allocations of the plugin fail.
//
// The file that HS_NO_MEMORY names contains two numbers, of four bytes of this machine each. Only
// allocations are meant that the plugin itself makes by `new`. The server's own allocations
// succeed: an engine gives up if it finds no memory, and that is not what is tested.
//
// The first number, N: of the allocations in the plugin's own threads about one in N throws.
// The second number, M: the M-th allocation from now on in the server's threads throws, in which a
// statement calls the plugin. This counts the number down.
// With 0 none throws.
#include <dlfcn.h>
#include <fcntl.h>
#include <pthread.h>
#include <sys/mman.h>
#include <unistd.h>

#include <atomic>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

namespace {

std::atomic<unsigned> count{0};

struct Numbers {
  std::uint32_t one_of;
  std::uint32_t countdown;
};

// The file is mapped, because it is looked at for every allocation of the server.
Numbers* map_numbers() {
  const char* const name = std::getenv("HS_NO_MEMORY");
  if (name == nullptr) return nullptr;
  const int file = ::open(name, O_RDWR | O_CLOEXEC);
  if (file < 0) return nullptr;
  void* const mapped =
      ::mmap(nullptr, sizeof(Numbers), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  ::close(file);
  return mapped == MAP_FAILED ? nullptr : static_cast<Numbers*>(mapped);
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
  static Numbers* const numbers = map_numbers();
  if (numbers == nullptr) return false;
  const std::uint32_t one_of = std::atomic_ref(numbers->one_of).load();
  std::atomic_ref countdown(numbers->countdown);
  if ((one_of == 0 && countdown == 0) || !is_plugin(caller)) return false;
  if (is_plugins_thread()) {
    // Not exactly each n-th: a loop with n allocations in each round would always fail at the same
    // place.
    const unsigned mixed = (++count * 2654435761U) >> 7;
    return one_of != 0 && mixed % one_of == 0;
  }
  std::uint32_t left = countdown.load();
  while (left != 0 && !countdown.compare_exchange_weak(left, left - 1)) {
  }
  return left == 1;
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
