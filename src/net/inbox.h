// Inbox: what other threads give to a worker.
//
// Each worker has one. Any thread may put in an accepted socket, give back a connection from a
// streamer, give it a connection of another worker, say which connections have to go
// (net/waiting_bytes.h), or ask about connections (net/question.h). Only the worker takes them out,
// and its epoll set wakes it for that. The inbox owns the sockets that wait in it and the connections
// of other workers, but not those that are given back.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <list>
#include <memory>
#include <mutex>
#include <new>
#include <utility>
#include <vector>

#include "net/connection.h"
#include "net/descriptor.h"
#include "net/question.h"
#include "net/waiting_bytes.h"

namespace hs::net {

class Inbox : public Source {
 public:
  Inbox(std::size_t number_of_worker, WaitingBytes& all_waiting)
      : Source(Kind::inbox), number(number_of_worker), waiting(all_waiting) {}

  // Before the threads start. False: errno says why.
  bool open() { return wakeup_.open(); }
  int fd() const { return wakeup_.fd(); }

  const std::size_t number;  // its worker's, among all of the server
  WaitingBytes& waiting;     // the budget of which its connections have shares
  WaitingBytes::Leavers leavers;

  // How many connections the worker has or is about to get.
  std::atomic<std::size_t> load{0};

  // Any thread: takes `socket`, unless the worker has left or there is no memory.
  bool offer(Accepted& socket) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      try {
        sockets_.push_back(std::move(socket));
      } catch (const std::bad_alloc&) {
        return false;
      }
    }
    wakeup_.notify();
    return true;
  }

  // A streamer: gives back a connection that it has finished with.
  void give_back(Connection& connection) {
    {
      const std::lock_guard lock(mutex_);
      connection.next_in_queue = std::exchange(returned_, &connection);
    }
    wakeup_.notify();
  }

  // Another worker: takes `connections`, unless the worker has left. Adds them to the answers that
  // the worker has given already.
  bool take_over(std::list<Connection>& connections) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return false;
      for (std::shared_ptr<Question>& question : answered_) {
        if (question != nullptr) add_to(question, connections);
      }
      moved_.splice(moved_.end(), connections);
    }
    wakeup_.notify();
    return true;
  }

  // Any thread that asks. A worker that has left takes no question.
  enum class Posted : std::uint8_t { yes, closed, full };
  Posted post(std::shared_ptr<Question> question) {
    {
      const std::lock_guard lock(mutex_);
      if (closed_) return Posted::closed;

      if (questions_ == most_questions) drop_abandoned();
      if (questions_ == most_questions) return Posted::full;
      question_at(questions_++) = std::move(question);
    }
    wakeup_.notify();
    return Posted::yes;
  }
  void wake() const { wakeup_.notify(); }
  // Only for a worker that waits without its epoll set.
  void reset() const { wakeup_.reset(); }

  // The worker: swaps the sockets that are there for the empty `sockets`, and the connections of
  // other workers for the empty `moved`. `question` becomes the one that came first; null if there is
  // none. Returns the chain of connections that were given back.
  Connection* take(std::vector<Accepted>& sockets, std::list<Connection>& moved,
                   std::shared_ptr<Question>& question) {
    const std::lock_guard lock(mutex_);
    moved.swap(moved_);
    question.reset();
    if (questions_ != 0) [[unlikely]] {
      question = std::move(question_at(0));
      first_question_ = (first_question_ + 1) % most_questions;
      --questions_;
      note_answered(question);
    }
    sockets.swap(sockets_);
    return std::exchange(returned_, nullptr);
  }

  // The worker: takes no more sockets and no more questions.
  void close() {
    const std::lock_guard lock(mutex_);
    closed_ = true;
  }
  bool closed() const {
    const std::lock_guard lock(mutex_);
    return closed_;
  }

 private:
  std::shared_ptr<Question>& question_at(std::size_t number) {
    return ring_[(first_question_ + number) % most_questions];
  }
  // Nobody waits for these any more.
  void drop_abandoned() {
    std::size_t kept = 0;
    for (std::size_t i = 0; i < questions_; ++i) {
      std::shared_ptr<Question> taken = std::move(question_at(i));
      if (!taken->is_abandoned()) question_at(kept++) = std::move(taken);
    }
    questions_ = kept;
  }

  // The worker is about to answer. Those that nobody waits for any more make room.
  void note_answered(const std::shared_ptr<Question>& question) {
    for (std::shared_ptr<Question>& place : answered_) {
      if (place != nullptr && !place->is_abandoned()) continue;
      place = question;
      return;
    }
    question->lack();  // nobody could add to the answer
  }
  static void add_to(std::shared_ptr<Question>& question, std::list<Connection>& connections) {
    if (question->is_abandoned()) return question.reset();
    for (Connection& connection : connections) {
      if (question->add(connection)) connection.has_to_end.store(true, std::memory_order_relaxed);
    }
  }

  Wakeup wakeup_;
  mutable std::mutex mutex_;
  std::vector<Accepted> sockets_;
  std::list<Connection> moved_;
  Connection* returned_ = nullptr;
  static constexpr std::size_t most_questions = 16;
  std::array<std::shared_ptr<Question>, most_questions> ring_;
  std::size_t first_question_ = 0;
  std::size_t questions_ = 0;
  // Those that the worker has answered, and that wait for others. Null: none.
  std::array<std::shared_ptr<Question>, most_questions> answered_;
  bool closed_ = false;
};

}  // namespace hs::net
