#include "memcached/session/dialogue.h"

#include <algorithm>
#include <utility>

#include "memcached/protocol/binary_packet.h"
#include "memcached/session/memcached.h"

namespace hs::memcached {

Dialogue::Dialogue(const Config& config) : config_(config), log_in_(config.log_in) {
  most_waiting = most_waiting_now();
}

bool Dialogue::is_binary(std::string_view input) const {
  if (state_.wire != Wire::unknown) return state_.wire == Wire::binary;
  return !input.empty() && static_cast<unsigned char>(input[0]) == RequestReader::binary_begin;
}

RequestLimits Dialogue::limits(bool is_first) const {
  constexpr std::size_t most_credentials = 1024;
  // A request has a head, too.
  constexpr std::size_t head = RequestReader::most_line_bytes;
  const std::size_t most = config_.max_request_size.get();
  const bool must_log_in = caller() == nullptr;
  return {.most_value_bytes = must_log_in ? most_credentials : std::max(most, 2 * head) - head,
          .must_log_in = must_log_in,
          .keys_are_known = is_first && state_.many.has_begun};
}

// The reader of the thread may hold a request.
std::size_t Dialogue::whole_requests(std::string_view input) const {
  RequestReader reader;
  std::size_t whole = std::min(state_.thrown_away, input.size());
  bool is_first = true;
  while (whole < input.size()) {
    const auto found = reader.read(input.substr(whole), is_binary(input), limits(is_first));
    if (found == RequestReader::Found::ends) return input.size();
    if (found == RequestReader::Found::incomplete) return whole;
    whole = std::min(whole + reader.size() + reader.thrown_away(), input.size());
    is_first = false;
  }
  return whole;
}

// Of the request at work.
void Dialogue::append_error(Status status, Buffer& out) const { Reply(out).error(asked_, status); }

// A container that the request has named stays chosen, as after every other error.
void Dialogue::replace_reply(std::string_view input, Status status, std::uint32_t replies,
                             Buffer& out) {
  if (replies == 0) return;
  Asked asked{.form = state_.wire == Wire::binary ? Form::binary : Form::text};
  if (asked.form == Form::binary) {
    const BinaryHeader header = read_header(input);
    asked.opcode = header.opcode;
    asked.opaque = header.opaque;
  }
  Reply(out).error(asked, status);
}

void Dialogue::refuse(net::Refusal why, Buffer& out) const {
  Mistake mistake = Mistake::no_room;
  if (why == net::Refusal::needs_tls) mistake = Mistake::tls_only;
  if (why == net::Refusal::foreign) mistake = Mistake::foreign;
  const Asked asked{.form = state_.wire == Wire::binary ? Form::binary : Form::text};
  Reply(out).error(asked, status_of(mistake));
}

Dialogue::State& Dialogue::begin_change(passes::Changes& changes) {
  if (before_ == nullptr) {
    changes.note(*this);
    before_ = std::make_unique<Before>(Before{.state = state_, .log_in = log_in_.state()});
  }
  return state_;
}

void Dialogue::keep_changes() { before_.reset(); }

void Dialogue::undo_changes() {
  if (before_ == nullptr) return;
  const std::unique_ptr<Before> before = std::move(before_);
  state_ = std::move(before->state);
  become(std::move(before->log_in));
}

void Dialogue::become(passes::LogIn::State state) {
  if (state.caller != caller()) remembered_.clear();
  log_in_.set_state(std::move(state));
  most_waiting = most_waiting_now();
}

keys::RowWork Dialogue::work_for(store::Store& store, Memcached& front, Buffer& out, bool is_worker,
                                 store::Sink* sink) {
  return {.store = store,
          .caller = caller(),
          .rows = front.rows(),
          .remembered = is_worker ? &remembered_ : nullptr,
          .sink = sink,
          .is_in_unit = false,
          .buffer = out,
          .default_database = {},
          .containers = front.containers(),
          .clock = front.clock(),
          .scratch = front.scratch()};
}

}  // namespace hs::memcached
