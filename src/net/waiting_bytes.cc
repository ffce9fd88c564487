#include "net/waiting_bytes.h"

#include <algorithm>
#include <bit>
#include <cassert>

#include "net/inbox.h"
#include "net/shared.h"

namespace hs::net {
namespace {

// If more than `too_full` is held, connections are chosen until no more than `relieved` will be
// left.
constexpr std::size_t too_full(std::size_t limit) { return limit - limit / 8; }
constexpr std::size_t relieved(std::size_t limit) { return limit - limit / 4; }

}  // namespace

bool WaitingBytes::has_room(const Share& share, std::size_t more) const {
  if (share.is_stranger_) [[unlikely]]
    return strangers_.held + more <= too_full(room_of_strangers());
  return known_.held + more <= too_full(limit_);
}

WaitingBytes::Sums& WaitingBytes::sums_of(const Share& share) {
  return share.is_stranger_ ? strangers_ : known_;
}

std::size_t WaitingBytes::room_of_strangers() const { return limit_ / 4; }

bool WaitingBytes::introduce(Share& share, bool is_stranger) {
  const std::lock_guard lock(mutex_);
  Sums& before = sums_of(share);
  share.is_stranger_ = is_stranger;
  Sums& after = sums_of(share);
  before.held -= share.charged_;
  after.held += share.charged_;
  if (share.place_ == Place::leaving) {
    before.leaving -= share.charged_;
    after.leaving += share.charged_;
  } else if (share.place_ != Place::none) {
    put_in_place(share);
  }
  make_room();
  return is_stranger || share.charged_ == 0 || known_.held <= limit_;
}

bool WaitingBytes::set(Share& share, std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const bool grows = bytes > share.charged_;
  count(share, bytes);
  if (share.is_stranger_) {
    choose_strangers(0);
    return !grows || strangers_.held <= room_of_strangers();
  }
  if (!grows) return true;
  make_room();
  return known_.held <= limit_;
}

bool WaitingBytes::grow(Share& share, std::size_t more) {
  const std::lock_guard lock(mutex_);
  if (share.is_stranger_) return grow_stranger(share, more);
  // The last part is for what is there already, and is only counted. Who comes with that holds
  // little, and is ended if there is no room.
  const std::size_t most = too_full(limit_);
  if (known_.held + more > most) {
    // Who has been chosen already gets nothing more, so nobody has to go for it.
    if (share.place_ != Place::leaving) choose(most - std::min(most, more), &share);
    return false;
  }
  count(share, share.charged_ + more);
  return true;
}

bool WaitingBytes::grow_stranger(Share& share, std::size_t more) {
  const bool has_room = strangers_.held + more <= room_of_strangers();
  if (has_room) count(share, share.charged_ + more);
  choose_strangers(has_room ? 0 : more);
  return has_room;
}

bool WaitingBytes::lend(Share& share) {
  const std::lock_guard lock(mutex_);
  if (share.place_ == Place::leaving) return false;
  take_out(share);
  share.place_ = Place::none;
  return true;
}

Connection* WaitingBytes::next_to_go(Leavers& leavers) {
  const std::lock_guard lock(mutex_);
  if (leavers.first_.next == &leavers.first_) {
    leavers.any_ = false;
    return nullptr;
  }
  // Its place stays `leaving` until it holds nothing more.
  auto& share = static_cast<Share&>(*leavers.first_.next);
  take_out(share);
  return &share.connection_;
}

// Notes what a share holds. A connection that no longer holds anything need not go any more.
void WaitingBytes::count(Share& share, std::size_t bytes) {
  const std::size_t before = share.charged_;
  Sums& sums = sums_of(share);
  sums.held += bytes - before;
  if (share.place_ == Place::leaving) sums.leaving += bytes - before;
  share.charged_ = bytes;
  if (bytes == 0) {
    take_out(share);
    share.place_ = Place::none;
  } else if (share.place_ != Place::leaving &&
             (share.place_ != Place::by_size || std::bit_width(bytes) != std::bit_width(before))) {
    put_in_place(share);
  }
}

void WaitingBytes::put_in_place(Share& share) {
  take_out(share);
  if (share.is_stranger_) {
    put_last(waiting_strangers_, share);
    share.place_ = Place::strangers;
  } else {
    put_last(by_size_[static_cast<std::size_t>(std::bit_width(share.charged_))], share);
    share.place_ = Place::by_size;
  }
}

// More is held than before.
void WaitingBytes::make_room() {
  const std::size_t limit = limit_;
  if (known_.held - known_.leaving > too_full(limit)) choose(relieved(limit), nullptr);
}

// Chooses the connections that hold most, but no strangers. Stops when no more than `target` will
// be left, when `last` was chosen, or when none is left to choose.
void WaitingBytes::choose(std::size_t target, const Share* last) {
  for (std::size_t size = by_size_.size(); size-- != 0;) {
    Link& list = by_size_[size];
    while (list.next != &list) {
      if (known_.held - known_.leaving <= target) return;
      auto& share = static_cast<Share&>(*list.next);
      // Nobody goes for the sake of a connection that holds more than twice as much.
      assert(last == nullptr || std::bit_width(share.charged_) >= std::bit_width(last->charged_));
      send_away(share);
      if (&share == last) return;
    }
  }
}

// Chooses strangers until there is room for `more`, and for some that come.
void WaitingBytes::choose_strangers(std::size_t more) {
  const std::size_t room = room_of_strangers();
  if (strangers_.held - strangers_.leaving + more <= too_full(room)) [[likely]]
    return;
  while (waiting_strangers_.next != &waiting_strangers_ &&
         strangers_.held - strangers_.leaving + more > relieved(room)) {
    send_away(static_cast<Share&>(*waiting_strangers_.next));
  }
}

void WaitingBytes::send_away(Share& share) {
  Leavers& leavers = share.home_->leavers;
  take_out(share);
  put_last(leavers.first_, share);
  share.place_ = Place::leaving;
  sums_of(share).leaving += share.charged_;
  if (!leavers.any_.exchange(true)) share.home_->wake();
}

void WaitingBytes::take_out(Link& link) {
  link.previous->next = link.next;
  link.next->previous = link.previous;
  link.previous = link.next = &link;
}

void WaitingBytes::put_last(Link& list, Link& link) {
  assert(link.next == &link);
  link.previous = list.previous;
  link.next = &list;
  list.previous->next = &link;
  list.previous = &link;
}

}  // namespace hs::net
