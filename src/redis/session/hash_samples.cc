// HSCAN and HRANDFIELD: columns of a row that are chosen by a pattern or by chance.
#include <algorithm>
#include <cstdlib>
#include <limits>
#include <random>
#include <string>
#include <utility>
#include <vector>

#include "redis/protocol/glob.h"
#include "redis/protocol/number.h"
#include "redis/session/row_replies.h"
#include "redis/session/scan_options.h"
#include "redis/session/work.h"

namespace hs::redis {
namespace {

using store::Outcome;

// A worker copies so many bytes for one reply, or writes so many.
constexpr std::size_t most_bytes_of_worker = std::size_t{256} << 10;

struct Field {
  std::string name;
  std::string value{};
};

// The columns that are not NULL and whose names a pattern allows.
class ChosenFields final : public store::Rows {
 public:
  ChosenFields(const Glob* pattern, bool with_values)
      : Rows(most_reply_bytes), pattern_(pattern), with_values_(with_values) {}
  bool take(std::span<const store::Column> columns, const store::CurrentRow& row,
            std::size_t /*in_number*/, Buffer& /*out*/) override {
    char room[store::Column::room];
    std::uint64_t effort = 0;
    for (const store::Column& column : columns) {
      if (pattern_ != nullptr && !pattern_->matches(column.name, effort)) continue;
      const store::ColumnValue value = column.value(row, room);
      if (value.kind == store::ColumnValue::Kind::no_memory) return false;
      if (value.kind == store::ColumnValue::Kind::null) continue;
      fields.push_back({.name = std::string(column.name)});
      bytes += column.name.size() + (with_values_ ? value.size : 0);
      if (bytes > most_reply_bytes) return true;
      if (with_values_) fields.back().value.assign(value.data, value.size);
    }
    return true;
  }

  std::vector<Field> fields;
  std::size_t bytes = 0;

 private:
  const Glob* const pattern_;
  const bool with_values_;
};

// Nothing of the reply is in the buffer yet, where the store would see how large it is.
Outcome check_size(const Work& work, std::size_t bytes) {
  if (bytes > most_reply_bytes) return Error::too_large;
  const bool is_worker = work.remembered != nullptr;
  return is_worker && bytes > most_bytes_of_worker ? Outcome(store::Verdict::oversized) : Outcome();
}

Outcome find_fields(Work& work, const KeyedRow& row, ChosenFields& rows, store::Found& found) {
  const Outcome outcome = find_row(work, row, rows, found);
  return outcome.ok() ? check_size(work, rows.bytes) : outcome;
}

Outcome scan_fields(Work& work, Words words) {
  std::uint64_t cursor = 0;
  if (!read_cursor(words[2], cursor)) return say(work, "ERR invalid cursor");
  ScanOptions options;
  const Status mistake = read_scan_options(work, words.subspan(3), ScanOf::fields, options);
  const Glob pattern(mistake.ok() && options.pattern ? *options.pattern : "*");
  return with_row(work, words[1], Asks::every, {}, [&](const KeyedRow& row) -> Outcome {
    ChosenFields rows(&pattern, options.with_values);
    store::Found found;
    const Outcome outcome = find_fields(work, row, rows, found);
    if (!outcome.ok()) return outcome;
    // Redis reads no options for a key that is not there.
    if (found.rows != 0 && !mistake.ok()) return mistake;
    work.reply.array(2);
    work.reply.bulk("0");
    work.reply.array(rows.fields.size() * (options.with_values ? 2 : 1));
    for (const Field& field : rows.fields) {
      work.reply.bulk(field.name);
      if (options.with_values) work.reply.bulk(field.value);
    }
    return outcome;
  });
}

struct Sample {
  bool is_list = false;
  std::int64_t count = 1;
  bool with_values = false;
};

Status read_sample(Work& work, Words words, Sample& sample) {
  constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max();
  if (words.size() == 2) return {};
  sample.is_list = true;
  if (!read_integer(words[2], sample.count)) return status_of(Mistake::not_an_integer);
  if (sample.count < -most) {
    return say(work, "ERR value is out of range, value must between " + std::to_string(-most) +
                         " and " + std::to_string(most));
  }
  if (words.size() == 3) return {};
  if (words.size() > 4 || !is_word(words[3], "withvalues")) return status_of(Mistake::syntax);
  sample.with_values = true;
  if (sample.count < -(most / 2) || sample.count > most / 2)
    return say(work, "ERR value is out of range");
  return {};
}

void write(Reply& reply, const Field& field, bool with_values) {
  if (with_values && reply.is_three()) reply.array(2);
  reply.bulk(field.name);
  if (with_values) reply.bulk(field.value);
}

// A count below zero: so many fields, each of which may come again. Otherwise none comes twice.
Outcome write_sample(Work& work, std::vector<Field>& fields, const Sample& sample) {
  std::minstd_rand random(std::random_device{}());
  const auto below = [&](std::size_t bound) {
    return std::uniform_int_distribution<std::size_t>(0, bound - 1)(random);
  };
  Reply& reply = work.reply;
  const bool may_repeat = sample.count < 0;
  std::size_t count = static_cast<std::size_t>(std::abs(sample.count));
  if (fields.empty()) count = 0;
  if (!may_repeat) count = std::min(count, fields.size());
  std::size_t longest = 0;
  for (const Field& field : fields)
    longest = std::max(longest, field.name.size() + field.value.size() + 2 * Reply::most_head);
  if (count > most_reply_bytes / std::max<std::size_t>(longest, 1)) return Error::too_large;
  if (const Outcome size = check_size(work, count * longest); !size.ok()) return size;

  if (!sample.is_list) {
    if (fields.empty()) {
      reply.null();
    } else {
      reply.bulk(fields[below(fields.size())].name);
    }
    return {};
  }
  reply.array(sample.with_values && !reply.is_three() ? 2 * count : count);
  for (std::size_t i = 0; i < count; ++i) {
    if (may_repeat) {
      write(reply, fields[below(fields.size())], sample.with_values);
    } else {
      std::swap(fields[i], fields[i + below(fields.size() - i)]);
      write(reply, fields[i], sample.with_values);
    }
  }
  return {};
}

Outcome sample_fields(Work& work, Words words) {
  Sample sample;
  if (const Status status = read_sample(work, words, sample); !status.ok()) return status;
  return with_row(work, words[1], Asks::every, {}, [&](const KeyedRow& row) {
    ChosenFields rows(nullptr, sample.with_values);
    store::Found found;
    const Outcome outcome = find_fields(work, row, rows, found);
    return outcome.ok() ? write_sample(work, rows.fields, sample) : outcome;
  });
}

}  // namespace

Outcome sample_hash(Work& work, Command command, Words words) {
  return command == Command::hscan ? scan_fields(work, words) : sample_fields(work, words);
}

}  // namespace hs::redis
