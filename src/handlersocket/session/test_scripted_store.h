// ScriptedStore: a store that records the calls and gives the answers that a test has set.
//
// It is for the tests of this folder, whose fixtures have runners with such a store. It serves
// finds and modifications only. Used on the test's thread.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <deque>
#include <memory>
#include <new>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "handlersocket/session/handlersocket.h"
#include "handlersocket/session/test_connection.h"
#include "store/store.h"

namespace hs::handlersocket {

class ScriptedIndex final : public store::Index {
 public:
  std::uint32_t key_parts() const override { return 1; }
  std::uint32_t column_count() const override { return 3; }
  std::uint64_t version() const override { return 1; }
  std::shared_ptr<const store::IndexShape> shape() const override { return nullptr; }
};

class ScriptedPosition final : public store::Position {};

// Records the calls and gives the answers that the test has set.
class ScriptedStore final : public store::Store {
 public:
  void begin_pass(store::PassMode mode, store::Budget&) override {
    switch (mode) {
      case store::PassMode::together: calls += "begin "; break;
      case store::PassMode::writes_alone: calls += "begin-alone "; break;
      case store::PassMode::aside: calls += "begin-aside "; break;
    }
  }
  store::Outcome end_pass() override {
    calls += "end ";
    if (throws_in_end) throw std::bad_alloc();
    return next(ends);
  }
  void abandon_pass() override { calls += "abandon "; }
  void forget_permissions() override { calls += "forget_permissions "; }
  void release() override { calls += "release "; }
  store::Outcome begin_unit() override {
    calls += "begin-unit ";
    return {};
  }
  store::Outcome end_unit() override {
    calls += "end-unit ";
    return {};
  }
  store::Outcome undo_unit() override {
    calls += "undo-unit ";
    return {};
  }
  store::Outcome open_index(const store::IndexNames&,
                            const std::shared_ptr<const store::Caller>& caller,
                            store::IndexUse& use) override {
    if (const store::Outcome opened = next(opens); !opened.ok()) return opened;
    use = {std::make_shared<ScriptedIndex>(), caller};
    return {};
  }
  // Records the keys, with a comma behind each part, and with a bar behind each key.
  void look_ahead(bool on) override { calls += on ? "look-ahead " : "look-no-more "; }
  bool passes_over(std::uint32_t finds) override {
    const bool passes = without_look != 0;
    without_look -= std::min(without_look, finds);
    return passes;
  }
  void expect(std::span<const store::Lookup> lookups) override {
    calls += "expect:";
    for (const store::Lookup& lookup : lookups) {
      for (const store::Value& value : lookup.key) calls.append(value.bytes) += ',';
      calls += '|';
    }
    calls += ' ';
  }
  store::Outcome find(store::IndexUse&, const store::Selection&, store::Rows&, Buffer& out,
                      store::Sink* sink, store::Found&) override {
    calls += "find ";
    throw_if_due(out);
    if (sink != nullptr) {
      out.append("\tbegun");
      if (flushes) {
        EXPECT_EQ(sink->flush(out, true), store::Sink::Flushed::sent);
      }
      out.append("\tmore");
      if (parks-- > 0) {
        EXPECT_EQ(sink->position == nullptr, positions == 0);
        sink->position = std::make_unique<ScriptedPosition>();
        ++positions;
        return store::Verdict::parked;
      }
    }
    return times-- > 0 ? outcome : store::Outcome{};
  }
  // Its sessions count nothing.
  store::Outcome count(store::IndexUse&, const store::Selection&, std::uint64_t&,
                       store::Sink*) override {
    return Error::not_supported;
  }
  // It changes as many rows as the number that is its key.
  store::Outcome modify(store::IndexUse&, const store::Selection& selection, const store::Change&,
                        store::Rows*, Buffer& out, store::Changed& changed) override {
    const std::string key(selection.key[0].bytes);
    calls += "modify" + key + " ";
    if (pause.count() != 0) std::this_thread::sleep_for(pause);
    throw_if_due(out);
    changed.rows = std::stoul(key);
    return next(modifications);
  }
  store::Outcome insert(store::IndexUse&, const store::Insert&, store::Changed&) override {
    return Status(Error::not_supported, 1235);  // not supported
  }
  store::Outcome insert_rows(store::IndexUse&, const store::InsertRows&,
                             std::vector<store::InsertedRow>&) override {
    return Error::not_supported;
  }

  std::string calls;
  std::chrono::milliseconds pause{0};  // so long each modification takes
  bool flushes = true;
  int parks = 0;  // so many of the next finds are parked
  int positions = 0;
  // The answers to the next calls. When none is left, calls succeed.
  std::deque<store::Outcome> opens;
  std::deque<store::Outcome> modifications;
  std::deque<store::Outcome> ends;
  // The find or modification that throws, counted from 0. It throws only once.
  int throws_at = -1;
  bool throws_in_end = false;
  std::uint32_t without_look = 0;  // what it says once
  // The first `times` finds end with `outcome`; the others are answered.
  store::Outcome outcome;
  int times = 0;

 private:
  void throw_if_due(Buffer& out) {
    if (throws_at-- != 0) return;
    out.append("half of a rep");
    throw std::bad_alloc();
  }

  store::Outcome next(std::deque<store::Outcome>& script) {
    if (script.empty()) return {};
    const store::Outcome outcome = script.front();
    script.pop_front();
    return outcome;
  }
};

// A store that another object owns: a ScriptedStore that a worker and a streamer share.
class SharedStore : public store::Store {
 public:
  explicit SharedStore(store::Store& store) : store_(store) {}

  void begin_pass(store::PassMode mode, store::Budget& budget) override {
    store_.begin_pass(mode, budget);
  }
  store::Outcome end_pass() override { return store_.end_pass(); }
  void abandon_pass() override { store_.abandon_pass(); }
  void forget_permissions() override { store_.forget_permissions(); }
  void release() override { store_.release(); }
  store::Outcome begin_unit() override { return store_.begin_unit(); }
  store::Outcome end_unit() override { return store_.end_unit(); }
  store::Outcome undo_unit() override { return store_.undo_unit(); }
  store::Outcome open_index(const store::IndexNames& names,
                            const std::shared_ptr<const store::Caller>& caller,
                            store::IndexUse& use) override {
    return store_.open_index(names, caller, use);
  }
  void look_ahead(bool on) override { store_.look_ahead(on); }
  bool passes_over(std::uint32_t finds) override { return store_.passes_over(finds); }
  void expect(std::span<const store::Lookup> lookups) override { store_.expect(lookups); }
  store::Outcome find(store::IndexUse& use, const store::Selection& selection, store::Rows& rows,
                      Buffer& out, store::Sink* sink, store::Found& found) override {
    return store_.find(use, selection, rows, out, sink, found);
  }
  store::Outcome count(store::IndexUse& use, const store::Selection& selection, std::uint64_t& rows,
                       store::Sink* sink) override {
    return store_.count(use, selection, rows, sink);
  }
  store::Outcome modify(store::IndexUse& use, const store::Selection& selection,
                        const store::Change& change, store::Rows* rows, Buffer& out,
                        store::Changed& changed) override {
    return store_.modify(use, selection, change, rows, out, changed);
  }
  store::Outcome insert(store::IndexUse& use, const store::Insert& row,
                        store::Changed& changed) override {
    return store_.insert(use, row, changed);
  }
  store::Outcome insert_rows(store::IndexUse& use, const store::InsertRows& rows,
                             std::vector<store::InsertedRow>& inserted) override {
    return store_.insert_rows(use, rows, inserted);
  }

 private:
  store::Store& store_;
};

inline RunnerConfig writable_port() {
  RunnerConfig config;
  config.session.writable = true;
  return config;
}

class ScriptedTest : public ::testing::Test {
 protected:
  ScriptedTest() {
    net::Turn turn{.dialogue = dialogue_.get(), .input = open_t};
    run_pass(runner_, {&turn, 1}, out_);
    out_.clear();
    store_.calls.clear();
  }
  CounterBlock counters_;
  RunnerConfig config_ = writable_port();
  ScriptedStore store_;
  PassRunner runner_{config_, std::make_unique<SharedStore>(store_), counters_};
  StreamRunner streamer_{config_, std::make_unique<SharedStore>(store_), counters_};
  std::unique_ptr<net::Dialogue> dialogue_ = runner_.open_dialogue(0);
  Buffer out_;
};

inline std::string update(int number) {
  return "1\t=\t1\t" + std::to_string(number) + "\t1\t0\tU\tx\n";
}

// Several connections of the fixture's runner, and their replies.
class PassOfSeveral : public ScriptedTest {
 protected:
  void open(int connections) {
    for (int i = 0; i < connections; ++i) {
      dialogues_.push_back(runner_.open_dialogue(0));
      net::Turn turn{.dialogue = dialogues_.back().get(), .input = open_t};
      run_pass(runner_, {&turn, 1}, out_);
    }
    out_.clear();
    store_.calls.clear();
  }
  void run(std::vector<std::string> inputs) {
    inputs_ = std::move(inputs);
    turns_.clear();
    out_.clear();
    for (std::size_t i = 0; i < inputs_.size(); ++i) {
      turns_.push_back({.dialogue = dialogues_[i].get(), .input = inputs_[i]});
    }
    run_pass(runner_, turns_, out_);
  }
  std::string replies(std::size_t turn) const {
    return std::string(out_.view(turns_[turn].reply_begin, turns_[turn].reply_end));
  }

  std::vector<std::unique_ptr<net::Dialogue>> dialogues_;
  std::vector<std::string> inputs_;
  std::vector<net::Turn> turns_;
};

}  // namespace hs::handlersocket
