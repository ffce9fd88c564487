// Requests that are answered alone, not in a pass: what PassRunner and StreamRunner share about them.
//
// Functions without a state of their own, on a worker between two passes, and on all other threads.
#pragma once

#include "base/buffer.h"
#include "net/application.h"
#include "passes/thread_ports.h"

namespace hs::passes {

// As net::Application::answer_late(): the request has waited too long for another thread.
void answer_late(net::Turn& turn, ThreadPorts& ports, Buffer& out);

// Behind the first request of a turn that was answered alone: sets what the turn does next.
void end_alone(net::Turn& turn, std::size_t consumed, bool goes_on);

// Frees the memory of a large request when it has been executed.
struct GivesBack {
  ThreadPorts& ports;
  ~GivesBack() { ports.give_back(); }
};

}  // namespace hs::passes
