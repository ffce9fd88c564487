// A request on all of its keys.
#include <memory>

#include "base/short_bytes.h"
#include "memcached/session/dialogue.h"
#include "memcached/session/memcached.h"

namespace hs::memcached {
namespace {

using store::Outcome;

Outcome execute_on_key(RowWork& work, const Request& request, std::string_view key,
                       std::string_view& container) {
  return with_chosen_item(work.containers, key, container, [&](const ChosenItem& chosen) {
    if (only_reads(request.action)) return read_item(work, request, key, chosen);
    return change_item(work, request, key, chosen);
  });
}

}  // namespace

// On a streamer, between two keys of a get, of which the second one stands at `next`. The items that were
// found are sent. If the client does not read, or others wait for the streamer, the get is parked here.
// Behind what was sent, it begins again if it meets a lock.
Outcome Dialogue::end_key(store::Sink& sink, Buffer& out, std::size_t next,
                          std::string_view container, std::uint32_t& keys) {
  const bool is_piece = out.size() >= config_.piece_bytes;
  if (!is_piece && ++keys % config_.keys_between_looks != 0) return {};
  bool is_parked = false;
  if (is_piece) {
    const store::Sink::Flushed flushed = sink.flush(out, true);
    if (flushed == store::Sink::Flushed::ended) return Error::killed;
    is_parked = flushed == store::Sink::Flushed::stalled;
  } else {
    if (sink.must_end()) return Error::killed;
    is_parked = sink.must_give_way();
    if (!is_parked) return {};
  }
  state_.many = {.has_begun = true, .next = next};
  if (!are_equal(container, state_.container)) state_.container = container;
  const bool has_begun = sink.position != nullptr && sink.position->reply_begun;
  if (sink.position == nullptr) sink.position = std::make_unique<store::Position>();
  sink.position->reply_begun = has_begun || is_piece || !out.empty();
  return is_parked ? Outcome(store::Verdict::parked) : Outcome();
}

Outcome Dialogue::execute_on_items(RowWork& work, const Request& request,
                                   std::string_view& container, store::Sink* sink) {
  if (request.action == Action::flush) {
    const Outcome outcome = flush(work, container);
    if (outcome.ok()) Reply(work.out()).ok(request);
    return outcome;
  }
  const auto execute = [&]() -> Outcome {
    std::string_view rest = request.more_keys;
    std::string_view key = request.key;
    if (state_.many.has_begun) {
      rest.remove_prefix(state_.many.next);
      key = take_word(rest);
    }
    const std::size_t begin = work.out().size();
    std::uint32_t keys = 0;
    while (true) {
      Outcome outcome = execute_on_key(work, request, key, container);
      if (!outcome.ok()) return outcome;
      key = take_word(rest);
      // The reply is kept until all items are changed.
      if (work.is_in_unit && work.out().size() - begin > keys::most_reply_bytes)
        return Error::too_large;
      if (key.empty()) return {};
      if (sink == nullptr) continue;
      const auto next = static_cast<std::size_t>(key.data() - request.more_keys.data());
      outcome = end_key(*sink, work.out(), next, container, keys);
      if (!outcome.ok()) return outcome;
    }
  };
  const bool is_read = request.action == Action::get || request.action == Action::touch_and_get;
  Outcome outcome;
  if (only_reads(request.action) || !has_more_keys(request)) {
    outcome = execute();
  } else {
    work.is_in_unit = true;
    outcome = store::run_unit(work.store, work.out(), execute);
    work.is_in_unit = false;
  }
  if (outcome.ok() && is_read) Reply(work.out()).end_of_items(request);
  return outcome;
}

}  // namespace hs::memcached
