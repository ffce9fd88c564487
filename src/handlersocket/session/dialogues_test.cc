// The dialogues of tests/vectors over the in-memory store, without sockets: step by step, and cut
// at every byte. tests/vectors/test_dialogues.py holds the same dialogues with whole servers.
#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <string_view>

#include "handlersocket/session/test_connection.h"
#include "protocol_vectors.h"
#include "store/memory_store.h"
#include "store/sample_tables.h"

namespace hs::handlersocket {
namespace {

using vectors::DialogueVector;
using vectors::StepVector;

// A port of a front end, and the only connection to it.
struct Port {
  Port(store::MemoryDatabase& database, store::Access access)
      : runner(config, std::make_unique<store::MemoryStore>(database, access, counters), counters),
        streamer(config, std::make_unique<store::MemoryStore>(database, access, counters),
                 counters) {
    config.session.writable = access == store::Access::write;
  }

  RunnerConfig config;
  CounterBlock counters;
  PassRunner runner;
  StreamRunner streamer;
  TestConnection connection{runner, streamer};
};

// Fresh tables, and both ports.
struct FrontEnd {
  FrontEnd() { store::add_golden_tables(database); }
  TestConnection& connection_of(const StepVector& step) {
    return step.reads ? read.connection : write.connection;
  }

  store::MemoryDatabase database;
  Port read{database, store::Access::read};
  Port write{database, store::Access::write};
};

// With `|` for TAB, `~` for NULL and `\` for the byte that begins an escape.
std::string shown(std::string_view bytes) {
  std::string text(bytes);
  for (char& byte : text) {
    byte = byte == '\t' ? '|' : byte == '\0' ? '~' : byte == '\x01' ? '\\' : byte;
  }
  return text;
}

TEST(Dialogues, AreAnsweredStepByStep) {
  for (const DialogueVector& dialogue : vectors::dialogues) {
    FrontEnd front_end;
    for (const StepVector& step : dialogue.steps) {
      EXPECT_EQ(shown(front_end.connection_of(step).send(step.send)), shown(step.recv))
          << dialogue.name << ": " << shown(step.send);
    }
  }
}

// Of what is sent on one port, wherever it is cut and in single bytes.
TEST(Dialogues, CutAnywhereAreTheSame) {
  for (const DialogueVector& dialogue : vectors::dialogues) {
    const auto reads = [](const StepVector& step) { return step.reads; };
    const bool reading = std::ranges::any_of(dialogue.steps, reads);
    if (reading && !std::ranges::all_of(dialogue.steps, reads)) continue;
    std::string sent;
    std::string expected;
    for (const StepVector& step : dialogue.steps) {
      sent += step.send;
      expected += step.recv;
    }
    const std::string_view bytes = sent;
    for (std::size_t cut = 0; cut <= bytes.size(); ++cut) {
      FrontEnd front_end;
      TestConnection& connection = front_end.connection_of(dialogue.steps.front());
      std::string received;
      if (cut == bytes.size()) {
        for (std::size_t i = 0; i < bytes.size(); ++i)
          received += connection.send(bytes.substr(i, 1));
      } else {
        received = connection.send(bytes.substr(0, cut));
        received += connection.send(bytes.substr(cut));
      }
      ASSERT_EQ(shown(received), shown(expected)) << dialogue.name << " cut at " << cut;
    }
  }
}

}  // namespace
}  // namespace hs::handlersocket
