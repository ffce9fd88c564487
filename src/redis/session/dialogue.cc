#include "redis/session/dialogue.h"

#include <cassert>
#include <utility>

#include "redis/protocol/errors.h"

namespace hs::redis {

Dialogue::Dialogue(const Config& config) : config_(config), log_in_(config.log_in) {
  most_waiting = most_waiting_now();
}

Dialogue::~Dialogue() {
  if (has_told_name_) config_.clients.forget(number);
}

// So that other clients can see it.
void Dialogue::tell_name() {
  has_told_name_ = true;
  config_.clients.set(number, {.resp = state_.resp,
                               .name = state_.name,
                               .library = state_.library,
                               .library_version = state_.library_version});
}

RequestLimits Dialogue::limits() const {
  if (caller() == nullptr) return RequestLimits::before_log_in();
  return {.most_bulk_bytes = config_.max_request_size.get()};
}

void Dialogue::answer(Status status, Buffer& out) const {
  std::string text;
  append_text(status, said_, text);
  reply_to(out).error(text);
}

// Also in place of a reply that a failed commit has made untrue. Such a reply of a client that wants none
// is not there, see end().
void Dialogue::append_error(Status status, Buffer& out) const { answer(status, out); }

void Dialogue::refuse(net::Refusal why, Buffer& out) const {
  Mistake mistake = Mistake::no_room;
  if (why == net::Refusal::needs_tls) mistake = Mistake::tls_only;
  if (why == net::Refusal::foreign) mistake = Mistake::foreign;
  answer(status_of(mistake), out);
}

Status Dialogue::say(std::string text) {
  said_ = std::move(text);
  return status_of(Mistake::said);
}

Dialogue::State& Dialogue::begin_change(passes::Changes& changes) {
  if (before_ == nullptr) {
    changes.note(*this);
    const std::size_t queued = is_queueing() ? state_.transaction->size() : 0;
    before_ = std::make_unique<Before>(
        Before{.state = state_, .log_in = log_in_.state(), .queued = queued});
  }
  return state_;
}

void Dialogue::replace_reply(std::string_view /*input*/, Status status, std::uint32_t replies,
                             Buffer& out) {
  // All requests behind the first one that waited have failed with it.
  state_.watched.note_failed();
  append_errors(status, replies, out);
}

void Dialogue::keep_changes() {
  before_.reset();
  state_.watched.note_committed();
}

void Dialogue::undo_changes() {
  if (before_ == nullptr) return;
  const std::unique_ptr<Before> before = std::move(before_);
  state_ = std::move(before->state);
  if (is_queueing()) state_.transaction->truncate(before->queued);
  become(std::move(before->log_in));
}

// A request of few words is looked at again from its beginning.
void Dialogue::set_progress(const RequestProgress& progress, passes::Changes& changes) {
  constexpr std::size_t few = 16;
  const RequestProgress kept = progress.words < few ? RequestProgress{} : progress;
  if (kept.words == state_.progress.words && kept.at == state_.progress.at) return;
  begin_change(changes).progress = kept;
}

void Dialogue::become(passes::LogIn::State state) {
  if (state.caller != caller()) remembered_.clear();
  log_in_.set_state(std::move(state));
  most_waiting = most_waiting_now();
}

}  // namespace hs::redis
