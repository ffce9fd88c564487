// A request on all of its keys.
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

Outcome Dialogue::execute_on_items(RowWork& work, const Request& request,
                                   std::string_view& container, store::Sink* sink) const {
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
    for (bool is_first = true; is_first || !key.empty(); is_first = false) {
      const Outcome outcome = execute_on_key(work, request, key, container);
      if (!outcome.ok()) return outcome;
      key = take_word(rest);
      // The reply is kept until all items are changed.
      if (work.is_in_unit && work.out().size() - begin > keys::most_reply_bytes)
        return Error::too_large;
      constexpr std::size_t piece = std::size_t{256} << 10;
      if (sink == nullptr || work.out().size() < piece) continue;
      // Nobody waits for the rest.
      if (sink->flush(work.out(), false) == store::Sink::Flushed::ended) return Error::killed;
    }
    return {};
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
