// What the parts of a session share about groups.
//
// Plain data and pure functions, for the thread that has the connection's turn.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "handlersocket/session/framing.h"

namespace hs::handlersocket {

// Why a group was undone: the number of the line that has failed, counted from 1, and its error.
struct GroupFailure {
  std::uint64_t line = 0;  // 0: no line has failed
  Status status{};
};

// Each line has a reply of its own, also the one that announces the others.
inline std::uint32_t replies_to(const Group& group) {
  return static_cast<std::uint32_t>(group.lines) + 1;
}

}  // namespace hs::handlersocket
