#include "net/question.h"

#include <algorithm>
#include <new>
#include <string>
#include <utility>

#include "net/connection.h"
#include "net/inbox.h"
#include "net/shared.h"

namespace hs::net {
namespace {

// Asks all workers and waits for their answers. A worker that has left has no connections, and a
// worker whose inbox is full gives no answer.
std::shared_ptr<Question> ask(const Shared& shared, Question::Kind kind, std::uint64_t id,
                              std::chrono::milliseconds patience) {
  std::size_t workers = 0;
  for (const Crew& crew : shared.crews) workers += crew.inboxes.size();
  auto question = std::make_shared<Question>(kind, id, workers);
  for (const Crew& crew : shared.crews) {
    for (const auto& inbox : crew.inboxes) {
      question->expect_answer();
      switch (inbox->post(question)) {
        case Inbox::Posted::yes: break;
        case Inbox::Posted::closed: question->answer({}, false); break;
        case Inbox::Posted::full: question->fail(); break;
      }
    }
  }
  question->wait(patience);
  return question;
}

// As whom the client of a connection acts. One that lingers has no dialogue any more.
std::string_view user_of(const Connection& connection) {
  if (has_dialogue_away(connection.state)) return connection.user;
  return connection.dialogue == nullptr ? std::string_view{} : connection.dialogue->user();
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

bool Question::add(const Connection& connection) {
  const std::lock_guard lock(mutex_);
  if (over_ || kind == Kind::report) return false;
  if (kind == Kind::close) {
    const bool is_wanted = connection.id == id;
    found_ |= is_wanted;
    return is_wanted;
  }
  try {
    parts_.push_back({seen_at(connection, kernel::monotonic_now())});
  } catch (const std::bad_alloc&) {
    failed_ = true;
  }
  return false;
}

void Question::lack() {
  const std::lock_guard lock(mutex_);
  failed_ = true;
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

SeenConnection seen_at(const Connection& connection, std::uint64_t now) {
  return {.id = connection.id,
          .port = connection.port->number,
          .peer = connection.peer,
          .user = std::string(user_of(connection)),
          .state = connection.state,
          .age = now - std::min(now, connection.accepted_at),
          .idle = now - std::min(now, connection.listed_at),
          .received = connection.received,
          .sent = connection.sent.load(std::memory_order_relaxed),
          .requests = connection.requests.load(std::memory_order_relaxed),
          .last_request = connection.last_request.load(std::memory_order_relaxed),
          .waiting_bytes = connection.share.charged(),
          .tls = connection.tls};
}

ConnectionList ask_for_connections(const Shared& shared, std::chrono::milliseconds patience) {
  const auto question = ask(shared, Question::Kind::describe, 0, patience);
  ConnectionList list;
  list.is_complete = question->is_complete();
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
  question->parts() = {};
  // One that has moved meanwhile may have been seen twice.
  std::vector<ConnectionInfo>& all = list.connections;
  std::ranges::stable_sort(all, {}, &ConnectionInfo::id);
  const auto is_same = [](const ConnectionInfo& a, const ConnectionInfo& b) {
    return a.id == b.id;
  };
  all.erase(std::unique(all.begin(), all.end(), is_same), all.end());
  return list;
}

ReportList ask_applications(const Shared& shared, std::chrono::milliseconds patience) {
  const auto question = ask(shared, Question::Kind::report, 0, patience);
  return {std::move(question->reports()), question->is_complete()};
}

Closing ask_to_close(const Shared& shared, std::uint64_t id, std::chrono::milliseconds patience) {
  const auto question = ask(shared, Question::Kind::close, id, patience);
  if (question->is_found()) return Closing::begun;
  return question->is_complete() ? Closing::unknown : Closing::unanswered;
}

}  // namespace hs::net
