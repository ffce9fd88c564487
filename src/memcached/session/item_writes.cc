// The requests that change items.
#include <string>

#include "memcached/protocol/number.h"
#include "memcached/session/items.h"

namespace hs::memcached {
namespace {

using keys::Item;
using keys::ItemColumns;
using keys::LockedItem;
using store::Outcome;

// What becomes of an item that was locked.
enum class Step : std::uint8_t { keep, set, erase, touch };

struct Change {
  Step step = Step::keep;
  Item after{};
  Done done{};
};

bool is_over(std::int64_t expires_ms) { return expires_ms == at_once; }

// An item that is over before it begins is deleted: its container may have no column for that.
void set(Change& change) {
  change.step = is_over(change.after.expires_ms) ? Step::erase : Step::set;
}

Status store_value(const Request& request, const Item* before, std::int64_t now_ms,
                   Change& change) {
  const bool needs_item = request.action == Action::replace || request.action == Action::append ||
                          request.action == Action::prepend;
  const bool joins = request.action == Action::append || request.action == Action::prepend;
  const bool creates = joins && request.creates && before == nullptr;
  const bool is_met = request.action == Action::add ? before == nullptr
                                                    : !needs_item || before != nullptr || creates;
  if (!is_met) {
    change.done.result = Result::not_stored;
    return {};
  }
  Item& after = change.after;
  if (joins && before != nullptr) {
    after.value.insert(request.action == Action::append ? after.value.size() : 0, request.value);
  } else {
    after = {.value = std::string(request.value),
             .flags = request.flags,
             .expires_ms = expiry_of(creates ? request.exptime_of_new : request.exptime, now_ms)};
  }
  set(change);
  return {};
}

Status add_number(const Request& request, const Item* before, std::int64_t now_ms, Change& change) {
  Item& after = change.after;
  if (before == nullptr) {
    if (!request.creates) {
      change.done.result = Result::not_found;
      return {};
    }
    change.done.number = request.initial;
    after = {.expires_ms = expiry_of(request.exptime_of_new, now_ms)};
  } else {
    std::uint64_t number = 0;
    if (!read_value(before->value, number)) return status_of(Mistake::not_numeric);
    if (request.action == Action::increment) {
      number += request.delta;
    } else {
      number = number < request.delta ? 0 : number - request.delta;
    }
    change.done.number = number;
    if (request.has_exptime) after.expires_ms = expiry_of(request.exptime, now_ms);
  }
  after.value = std::to_string(change.done.number);
  set(change);
  return {};
}

Status decide(const Request& request, const Item* before, std::int64_t now_ms, Change& change) {
  change = {};
  change.done.value_size = request.value.size();
  change.done.item.is_new = before == nullptr;
  if (before != nullptr) {
    change.after = *before;
    change.done.item.seconds_left_before = seconds_left(before->expires_ms, now_ms);
  }
  const bool is_sum = request.action == Action::increment || request.action == Action::decrement;
  // What is created has no cas to compare, and nothing can be joined to what is not there.
  const bool joins = request.action == Action::append || request.action == Action::prepend;
  const bool is_meta_add = request.form == Form::meta && request.action == Action::add;
  const bool is_new = before == nullptr && ((is_sum && request.creates) || joins);
  if (request.compared && !is_new && !is_meta_add) {
    if (before == nullptr || before->cas != *request.compared) {
      change.done.result = before == nullptr ? Result::not_found : Result::exists;
      return {};
    }
  }
  if (stores_value(request.action)) {
    const Status stored = store_value(request, before, now_ms, change);
    if (joins && change.step == Step::set) change.done.value_size = change.after.value.size();
    return stored;
  }
  if (is_sum) return add_number(request, before, now_ms, change);
  if (before == nullptr) {
    change.done.result = Result::not_found;
    return {};
  }
  if (request.action == Action::erase) {
    change.step = Step::erase;
    if (!request.clears_value) return {};
    change.after = {.flags = request.flags, .expires_ms = expiry_of(request.exptime, now_ms)};
    set(change);
    return {};
  }
  change.after.expires_ms = expiry_of(request.exptime, now_ms);
  change.step = is_over(change.after.expires_ms) ? Step::erase : Step::touch;
  return {};
}

// Notes the cas that the change gives the item, or would give it.
Outcome execute_step(RowWork& work, const KeyedRow& row, const LockedItem& locked, bool is_touch,
                     Change& change) {
  if (change.step == Step::keep) return {};
  std::uint64_t& cas = change.done.item.cas;
  cas = locked.item.cas;
  if (row.access->item.cas != ItemColumns::none && !is_touch)
    cas = locked.has_row ? cas + 1 : work.containers.next_cas();
  if (change.step == Step::touch) return keys::touch_item(work, row, change.after.expires_ms);
  if (change.step == Step::set)
    return keys::write_item(work, row, locked.has_row, change.after, cas);
  return locked.has_row ? keys::erase_item(work, row) : Outcome();
}

Outcome lock_and_change(RowWork& work, const KeyedRow& row, const Request& request,
                        Change& change) {
  const auto execute = [&]() -> Outcome {
    constexpr int most_tries = 3;
    const bool is_touch =
        request.action == Action::touch || request.action == Action::touch_and_get;
    Outcome outcome;
    for (int tries = 0; tries < most_tries; ++tries) {
      LockedItem locked;
      outcome = keys::lock_item(work, row, locked);
      if (!outcome.ok()) return outcome;
      const Status decided =
          decide(request, locked.is_live ? &locked.item : nullptr, work.clock.now_ms(), change);
      if (!decided.ok()) return decided;
      outcome = execute_step(work, row, locked, is_touch, change);
      // Another session may have inserted the row meanwhile. If not, it is another row's value.
      if (outcome.status().kind() != Error::duplicate_key) return outcome;
    }
    return outcome;
  };
  if (work.is_in_unit) return execute();
  return store::run_unit(work.store, work.out(), execute);
}

// Whatever is there, it is another item now, and nobody asks which cas it has got.
bool is_plain_set(const Request& request, std::int64_t expires_ms) {
  const bool needs_cas = request.shows_cas && !(request.form == Form::binary && request.is_quiet);
  return request.action == Action::set && !request.compared && !needs_cas && !is_over(expires_ms);
}

void answer(RowWork& work, const Request& request, std::string_view key, const Change& change) {
  Reply reply(work.out());
  const std::int64_t now_ms = work.clock.now_ms();
  const Shown shown{.flags = change.after.flags,
                    .cas = change.done.item.cas,
                    .seconds_left = seconds_left(change.after.expires_ms, now_ms),
                    .seconds_left_before = change.done.item.seconds_left_before,
                    .value = change.after.value};
  const bool is_read = request.action == Action::touch_and_get;
  const bool is_touched = request.form == Form::binary && request.action == Action::touch;
  if (is_read || is_touched) {
    if (change.done.result == Result::done) return reply.item(request, key, shown);
    return reply.no_item(request, key);
  }
  Done done = change.done;
  done.item.seconds_left = shown.seconds_left;
  reply.change(request, done);
}

}  // namespace

Outcome change_item(RowWork& work, const Request& request, std::string_view key,
                    const ChosenItem& chosen) {
  if (chosen.is_container) {
    if (request.action == Action::touch_and_get) return read_item(work, request, key, chosen);
    return status_of(Mistake::bad_line);
  }
  return keys::with_changed_item(work, chosen.item, [&](const KeyedRow& row) -> Outcome {
    if (request.compared && row.access->item.cas == ItemColumns::none)
      return status_of(Mistake::no_cas);
    Change change;
    Outcome outcome;
    const std::int64_t expires_ms = expiry_of(request.exptime, work.clock.now_ms());
    if (is_plain_set(request, expires_ms)) {
      change.done.value_size = request.value.size();
      outcome = keys::put_item(
          work, row,
          {.value = std::string(request.value), .flags = request.flags, .expires_ms = expires_ms});
    } else {
      outcome = lock_and_change(work, row, request, change);
    }
    if (outcome.ok()) answer(work, request, key, change);
    return outcome;
  });
}

Outcome flush(RowWork& work, std::string_view container) {
  const auto found =
      container.empty() ? work.containers.by_default() : work.containers.find(container);
  if (found == nullptr) return keys::status_of(keys::KeyMistake::no_container);
  const auto open = [&](std::shared_ptr<const RowAccess>& access, store::IndexUse& own,
                        KeyedRow& row) -> Outcome {
    const std::string_view text = work.rows.text_of(found->name, keys::Asks::item, {});
    access = work.rows.find(text);
    if (access == nullptr || access->container != found) {
      const Outcome opened =
          work.rows.open_items(work.store, work.caller, found, keys::Asks::item, access);
      if (!opened.ok()) return opened;
    }
    own = {access->index, work.caller};
    row = {access.get(), &own};
    return {};
  };
  return keys::with_opened(work, true, open, [&](const KeyedRow& row) {
    const store::Selection all{.range = {store::Bound::within, store::Direction::up},
                               .limit = store::no_limit};
    const store::Change erase{.kind = store::ChangeKind::erase};
    store::Changed changed;
    return work.store.modify(*row.use, all, erase, nullptr, work.out(), changed);
  });
}

}  // namespace hs::memcached
