#include "net/question.h"

#include <utility>

#include "net/inbox.h"
#include "net/shared.h"

namespace hs::net {
namespace {

// Asks all workers and waits for their answers. A worker that has left has no connections, and a
// worker whose inbox is full gives no answer.
std::shared_ptr<Question> ask(const Shared& shared, Question::Kind kind, std::uint64_t id,
                              std::chrono::milliseconds patience) {
  auto question = std::make_shared<Question>(kind, id, shared.inboxes.size());
  for (const auto& inbox : shared.inboxes) {
    question->expect_answer();
    switch (inbox->post(question)) {
      case Inbox::Posted::yes: break;
      case Inbox::Posted::closed: question->answer({}, false); break;
      case Inbox::Posted::full: question->fail(); break;
    }
  }
  question->wait(patience);
  return question;
}

// Asks again if a connection has moved from a worker that had not answered to one that had. Moves
// are rare. If there are always new ones, the answer counts as incomplete.
constexpr int most_rounds = 10;

struct Answered {
  std::shared_ptr<Question> question;
  bool is_complete = false;
};

Answered ask_about_all(const Shared& shared, Question::Kind kind, std::uint64_t id,
                       std::chrono::milliseconds patience) {
  Answered answered;
  for (int round = 0; round < most_rounds; ++round) {
    const std::uint64_t moves = shared.balance.moves();
    answered.question = ask(shared, kind, id, patience);
    const bool has_moved = moves != shared.balance.moves();
    answered.is_complete = answered.question->is_complete() && !has_moved;
    if (answered.question->is_found() || !answered.question->is_complete() || !has_moved) break;
  }
  return answered;
}

}  // namespace

void Question::expect_answer() {
  const std::lock_guard lock(mutex_);
  ++to_answer_;
}

void Question::answer(std::vector<SeenConnection> seen, bool found) {
  {
    const std::lock_guard lock(mutex_);
    --to_answer_;
    if (over_) return;
    found_ |= found;
    parts_.push_back(std::move(seen));
  }
  answered_.notify_one();
}

void Question::answer(std::unique_ptr<Report> report) {
  {
    const std::lock_guard lock(mutex_);
    --to_answer_;
    if (over_) return;
    if (report != nullptr) reports_.push_back(std::move(report));
  }
  answered_.notify_one();
}

void Question::fail() {
  {
    const std::lock_guard lock(mutex_);
    --to_answer_;
    failed_ = true;
  }
  answered_.notify_one();
}

bool Question::is_abandoned() const {
  const std::lock_guard lock(mutex_);
  return over_;
}

void Question::wait(std::chrono::milliseconds patience) {
  const std::uint64_t deadline =
      kernel::monotonic_now() + static_cast<std::uint64_t>(patience.count()) * ms;
  std::unique_lock lock(mutex_);
  for (std::uint64_t now = kernel::monotonic_now(); to_answer_ != 0 && !found_ && now < deadline;
       now = kernel::monotonic_now()) {
    const std::uint64_t left_ms = (deadline - now + ms - 1) / ms;
    answered_.wait_for(lock, std::chrono::milliseconds(left_ms));
  }
  over_ = true;
  complete_ = to_answer_ == 0 && !failed_;
}

ConnectionList ask_for_connections(const Shared& shared, std::chrono::milliseconds patience) {
  const auto [question, is_complete] = ask_about_all(shared, Question::Kind::describe, 0, patience);
  ConnectionList list;
  list.is_complete = is_complete;
  for (std::vector<SeenConnection>& part : question->parts()) {
    for (SeenConnection& seen : part) {
      list.connections.push_back({.id = seen.id,
                                  .port = seen.port,
                                  .peer = seen.peer.text(),
                                  .user = std::move(seen.user),
                                  .state = name_of(seen.state),
                                  .age = std::chrono::nanoseconds(seen.age),
                                  .idle = std::chrono::nanoseconds(seen.idle),
                                  .received = seen.received,
                                  .sent = seen.sent,
                                  .requests = seen.requests,
                                  .last_request = name_of(seen.last_request),
                                  .waiting_bytes = seen.waiting_bytes,
                                  .tls = seen.tls});
    }
  }
  return list;
}

ReportList ask_applications(const Shared& shared, std::chrono::milliseconds patience) {
  const auto question = ask(shared, Question::Kind::report, 0, patience);
  return {std::move(question->reports()), question->is_complete()};
}

Closing ask_to_close(const Shared& shared, std::uint64_t id, std::chrono::milliseconds patience) {
  const auto [question, is_complete] = ask_about_all(shared, Question::Kind::close, id, patience);
  if (question->is_found()) return Closing::begun;
  return is_complete ? Closing::unknown : Closing::unanswered;
}

}  // namespace hs::net
