#include "base/usable_cores.h"

#include <sched.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <memory>
#include <thread>

namespace hs {
namespace {

using Cores = std::optional<std::uint64_t>;

// The text of a small file; empty if there is no such file. The plugin uses no stream of the
// library.
std::string text_of(const std::string& path) {
  const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(std::fopen(path.c_str(), "re"),
                                                             std::fclose);
  std::array<char, 8192> text;
  return {text.data(), file == nullptr ? 0 : std::fread(text.data(), 1, text.size(), file.get())};
}

// The number at the beginning of the text, which is removed from the text. None if the text begins
// otherwise: "max" and "-1" mean no limit.
std::optional<std::uint64_t> take_number(std::string_view& text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{}) return std::nullopt;
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

// Quota and period in microseconds, one after the other, such as "100000 50000".
Cores cores_of_quota(std::string_view text) {
  const std::optional<std::uint64_t> quota = take_number(text);
  if (!quota || text.empty()) return std::nullopt;
  text.remove_prefix(1);
  const std::optional<std::uint64_t> period = take_number(text);
  if (!period || *period == 0) return std::nullopt;
  return std::max<std::uint64_t>(*quota / *period + (*quota % *period == 0 ? 0 : 1), 1);
}

Cores smaller(Cores a, Cores b) {
  if (!a || !b) return a ? a : b;
  return std::min(*a, *b);
}

// The smallest quota of a group and its parents. In a container the path may name groups that
// cannot be seen from there. The groups that can be seen count.
template <typename Quota>
Cores smallest_of_path(std::string path, Quota quota) {
  Cores smallest;
  while (true) {
    while (path.ends_with('/')) path.pop_back();
    smallest = smaller(smallest, cores_of_quota(quota(path)));
    if (path.empty()) return smallest;
    path.erase(path.find_last_of('/') == std::string::npos ? 0 : path.find_last_of('/'));
  }
}

bool names_cpu(std::string_view controllers) {
  while (!controllers.empty()) {
    const std::size_t comma = std::min(controllers.find(','), controllers.size());
    if (controllers.substr(0, comma) == "cpu") return true;
    controllers.remove_prefix(std::min(comma + 1, controllers.size()));
  }
  return false;
}

}  // namespace

// A line is "NUMBER:CONTROLLERS:PATH". Version 2 has the number 0 and no controllers.
Cores cores_of_groups(std::string_view memberships, const std::string& mount) {
  Cores smallest;
  while (!memberships.empty()) {
    const std::size_t lf = std::min(memberships.find('\n'), memberships.size());
    const std::string_view line = memberships.substr(0, lf);
    memberships.remove_prefix(std::min(lf + 1, memberships.size()));
    const std::size_t first = line.find(':');
    const std::size_t second = first == line.npos ? line.npos : line.find(':', first + 1);
    if (second == line.npos) continue;
    const std::string_view controllers = line.substr(first + 1, second - first - 1);
    const std::string path(line.substr(second + 1));
    if (controllers.empty()) {
      smallest = smaller(smallest, smallest_of_path(path, [&](const std::string& group) {
                           return text_of(mount + group + "/cpu.max");
                         }));
    } else if (names_cpu(controllers)) {
      smallest = smaller(smallest, smallest_of_path(path, [&](const std::string& group) {
                           std::string file = mount;
                           file.append("/cpu").append(group).append("/cpu.cfs_");
                           return text_of(file + "quota_us").append(text_of(file + "period_us"));
                         }));
    }
  }
  return smallest;
}

std::uint64_t usable_cores() {
  std::uint64_t cores = std::max(std::thread::hardware_concurrency(), 1U);
  cpu_set_t set;
  if (::sched_getaffinity(0, sizeof set, &set) == 0) {
    cores = static_cast<std::uint64_t>(std::max(CPU_COUNT(&set), 1));
  }
  return *smaller(cores, cores_of_groups(text_of("/proc/self/cgroup"), "/sys/fs/cgroup"));
}

}  // namespace hs
