#include "redis/session/key_scan.h"

#include <algorithm>
#include <memory>
#include <optional>
#include <string>
#include <utility>

#include "redis/session/key_pages.h"
#include "redis/session/row_replies.h"
#include "redis/session/scan_options.h"
#include "redis/session/whole_reply.h"

namespace hs::redis {
namespace {

using store::Outcome;

constexpr std::size_t rows_of_a_page = 1000;
// A list that is parked keeps what it has found.
constexpr std::size_t most_list_bytes = std::size_t{16} << 20;

void write_page(Reply& reply, std::uint64_t cursor, const std::vector<std::string>& keys) {
  reply.array(2);
  reply.bulk(std::to_string(cursor));
  reply.array(keys.size());
  for (const std::string& key : keys) reply.bulk(key);
}

// Where a list of keys was left.
class ListPosition final : public store::Position {
 public:
  ListPosition() { reply_begun = false; }

  ScanKey last;
  std::string bulks;  // the keys, as they are written
  std::size_t count = 0;
};

// Adds the keys of a page. Not ok: there are too many.
Status add_page(Work& work, const KeyPages::Page& page, ListPosition& list) {
  list.count += page.keys.size();
  if (list.count > most_listed_keys) {
    return say(work, "ERR KEYS finds more than " + std::to_string(most_listed_keys) +
                         " keys: SCAN goes through them");
  }
  Buffer bulks;
  Reply writer(bulks, work.reply.resp());
  for (const std::string& key : page.keys) writer.bulk(key);
  list.bulks += bulks.view();
  return list.bulks.size() > most_list_bytes ? Status(Error::too_large) : Status{};
}

void write_list(Reply& reply, const ListPosition& list) {
  reply.array(list.count);
  reply.out().append(list.bulks);
}

}  // namespace

std::string_view pattern_of(Command command, Words words) {
  if (command == Command::keys) return words[1];
  for (std::size_t i = 2; i + 1 < words.size(); i += 2) {
    if (is_word(words[i], "match")) return words[i + 1];
  }
  return {};
}

Outcome scan_keys(Work& work, Words words) {
  std::uint64_t cursor = 0;
  if (!read_cursor(words[1], cursor)) return say(work, "ERR invalid cursor");
  ScanOptions options;
  if (const Status status = read_scan_options(work, words.subspan(2), ScanOf::keys, options);
      !status.ok())
    return status;
  KeyPages pages;
  const std::string_view pattern = options.pattern.value_or("*");
  if (const Status status = pages.read_pattern(work, pattern); !status.ok()) return status;
  std::optional<ScanPosition> from;
  if (cursor != 0) {
    from = work.scans.find(cursor, work.caller->name());
    if (!from || from->place != nullptr || from->pattern != pattern) {
      return say(work,
                 "ERR invalid cursor: it is too old, or of another MATCH or account. Begin "
                 "again with 0, see docs/redis.md");
    }
  }
  KeyPages::Page page{.keys = {}, .last = {}, .is_last = true};
  const std::string_view type = pages.is_of_items() ? "string" : "hash";
  if (!options.type || is_word(*options.type, type)) {
    const auto rows = static_cast<std::size_t>(std::min(options.count, most_scanned_rows));
    const Outcome outcome = pages.read(work, work.sink, from ? &from->key : nullptr, rows, page);
    if (!outcome.ok()) return outcome;
  }
  std::uint64_t next = 0;
  if (page.is_last) {
    work.scans.end(cursor);
  } else {
    next = work.scans.add(cursor, {.account = std::string(work.caller->name()),
                                   .pattern = std::string(pattern),
                                   .key = std::move(page.last)});
  }
  write_page(work.reply, next, page.keys);
  return {};
}

Outcome list_keys(Work& work, Words words) {
  KeyPages pages;
  if (const Status status = pages.read_pattern(work, words[1]); !status.ok()) return status;
  const bool is_worker = work.remembered != nullptr;
  if (is_worker && !pages.is_one_key()) return store::Verdict::oversized;
  std::optional<WholeReply> whole;
  if (work.sink != nullptr) whole.emplace(*work.sink);

  auto list = std::make_unique<ListPosition>();
  if (work.sink != nullptr && work.sink->position != nullptr)
    list.reset(static_cast<ListPosition*>(work.sink->position.release()));
  for (;;) {
    const ScanKey last = std::move(list->last);
    KeyPages::Page page;
    const Outcome outcome = pages.read(work, whole ? &*whole : nullptr,
                                       last.empty() ? nullptr : &last, rows_of_a_page, page);
    if (!outcome.ok()) return outcome;
    if (const Status status = add_page(work, page, *list); !status.ok()) return status;
    if (page.is_last) break;
    list->last = std::move(page.last);
    if (work.sink == nullptr) continue;
    if (work.sink->must_end()) return Error::killed;
    if (work.sink->must_give_way()) {
      work.sink->position = std::move(list);
      return store::Verdict::parked;
    }
  }
  write_list(work.reply, *list);
  return {};
}

}  // namespace hs::redis
