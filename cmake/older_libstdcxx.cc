// Symbols that GCC 13 and later take from their libstdc++ and that an older server's libstdc++ lacks. A server
// brings its own libraries (MariaDB 10.11 those of Debian 12), and it refuses a plugin that misses one symbol there.
#include <cxxabi.h>

#include <exception>
#include <string>

#if _GLIBCXX_RELEASE >= 13
// A part of std::string::replace.
template void std::string::_M_replace_cold(char*, std::string::size_type, const char*,
                                           const std::string::size_type,
                                           const std::string::size_type);

// Every file that includes <iostream> names this symbol, and headers of MariaDB include it. It says
// that the library sets up std::cout by itself. Nobody calls it, and the plugin uses no stream.
extern "C" __attribute__((visibility("hidden"))) void _ZSt21ios_base_library_initv() {}
#endif

#if _GLIBCXX_RELEASE >= 14
// GCC calls this if an exception reaches a function that must not throw. Only the compiler names
// it, so the linker has to be told that it is used.
extern "C" __attribute__((visibility("hidden"), used, noreturn)) void hs_call_terminate(
    void* exception) noexcept __asm__("__cxa_call_terminate");

void hs_call_terminate(void* exception) noexcept {
  if (exception != nullptr) __cxxabiv1::__cxa_begin_catch(exception);
  std::terminate();
}
#endif
