#include "net/idle_cores.h"

#include <fcntl.h>
#include <sched.h>
#include <unistd.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <string_view>
#include <utility>

namespace hs::net {
namespace {

// Enough for the lines of some hundred cores, which stand first.
constexpr std::size_t most_text = std::size_t{32} << 10;

std::uint64_t take_number(std::string_view& line) {
  line.remove_prefix(std::min(line.find_first_not_of(' '), line.size()));
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(line.data(), line.data() + line.size(), number);
  line.remove_prefix(static_cast<std::size_t>(end - line.data()));
  return number;
}

// The idle time of the cores that this process may use, from lines such as
// "cpu0 user nice system idle iowait irq ...".
std::uint64_t idle_time(std::string_view text, const cpu_set_t& allowed) {
  std::uint64_t idle = 0;
  while (text.starts_with("cpu")) {
    std::string_view line = text.substr(3, text.find('\n') - 3);
    text.remove_prefix(std::min(text.size(), line.size() + 4));
    if (line.starts_with(' ')) continue;  // the sum of all cores
    const std::uint64_t core = take_number(line);
    if (core >= CPU_SETSIZE || !CPU_ISSET(core, &allowed)) continue;
    for (int i = 0; i < 3; ++i) take_number(line);
    idle += take_number(line);
    idle += take_number(line);  // it waits for a disk, and could do something else
  }
  return idle;
}

}  // namespace

bool IdleCores::is_open() {
  if (!std::exchange(was_tried_, true)) {
    file_ = Descriptor(::open("/proc/stat", O_RDONLY | O_CLOEXEC));
    text_.resize(most_text);
  }
  return static_cast<bool>(file_);
}

std::optional<double> IdleCores::since_last(std::uint64_t now) {
  cpu_set_t allowed;
  if (::sched_getaffinity(0, sizeof allowed, &allowed) != 0) CPU_ZERO(&allowed);
  const double all = std::max(CPU_COUNT(&allowed), 1);
  if (!is_open()) return all;
  const ssize_t size = ::pread(file_.get(), text_.data(), text_.size(), 0);
  if (size <= 0) return all;
  const std::uint64_t idle = idle_time({text_.data(), static_cast<std::size_t>(size)}, allowed);
  const double ticks = static_cast<double>(idle - std::min(idle, idle_));
  const double seconds = static_cast<double>(now - at_) / 1e9;
  const bool is_first = at_ == 0;
  idle_ = idle;
  at_ = now;
  if (is_first || seconds <= 0) return std::nullopt;
  return std::min(all, ticks / static_cast<double>(::sysconf(_SC_CLK_TCK)) / seconds);
}

}  // namespace hs::net
