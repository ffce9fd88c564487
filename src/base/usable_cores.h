// How many cores this process may use.
//
// It owns nothing and remembers nothing. Any thread may call it when something starts. It reads a
// few small files of the system, which may be missing. It does not notice cores that are taken away
// or added later.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

namespace hs {

// The number by the CPU affinity and the quotas of the control groups; at least 1.
std::uint64_t usable_cores();

// The cores that the quotas of control groups allow, rounded up; none if there is no quota.
// `memberships` is the text of /proc/self/cgroup, `mount` the folder of the groups. Groups of
// version 1 and of version 2 count, and so do their parent groups. The smallest quota decides.
std::optional<std::uint64_t> cores_of_groups(std::string_view memberships,
                                             const std::string& mount);

}  // namespace hs
