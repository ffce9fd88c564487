#include "redis/protocol/find_words.h"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstring>

namespace hs::redis {
namespace {

using store::Comparison;
using store::Value;

// The options, each a bit of those that were given.
enum Option : unsigned {
  no_option = 0,
  fields = 1,
  set = 2,
  key = 4,
  in = 8,
  from = 16,
  to = 32,
  begins = 64,
  order = 128,
  limit = 256,
  offset = 512,
  after = 1024,
  null_word = 2048,
  condition = 4096,
};

struct OptionWord {
  std::string_view word;
  Option option;
};
constexpr std::array option_words{
    OptionWord{"fields", fields},  OptionWord{"set", set},          OptionWord{"key", key},
    OptionWord{"in", in},          OptionWord{"from", from},        OptionWord{"to", to},
    OptionWord{"begins", begins},  OptionWord{"asc", order},        OptionWord{"desc", order},
    OptionWord{"limit", limit},    OptionWord{"offset", offset},    OptionWord{"after", after},
    OptionWord{"null", null_word}, OptionWord{"filter", condition}, OptionWord{"while", condition},
};

constexpr unsigned of_every_command =
    key | in | from | to | begins | order | limit | offset | null_word | condition;

unsigned options_of(Command command) {
  if (command == Command::hs_find) return of_every_command | fields | after;
  return command == Command::hs_update ? of_every_command | set : of_every_command;
}

struct OperatorWord {
  std::string_view word;
  Comparison comparison;
};
constexpr std::array operator_words{
    OperatorWord{"=", Comparison::equal},   OperatorWord{"!=", Comparison::not_equal},
    OperatorWord{">", Comparison::greater}, OperatorWord{">=", Comparison::greater_equal},
    OperatorWord{"<", Comparison::less},    OperatorWord{"<=", Comparison::less_equal},
};

bool read_operator(std::string_view word, Comparison& comparison) {
  const auto found = std::ranges::find(operator_words, word, &OperatorWord::word);
  if (found == operator_words.end()) return false;
  comparison = found->comparison;
  return true;
}

bool read_number(std::string_view text, std::uint64_t& number) {
  const char* const end = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), end, number);
  return error == std::errc{} && stop == end && !text.empty();
}

class Reader {
 public:
  Reader(const CommandInfo& info, std::span<const std::string_view> words, FindWords& read)
      : info_(info), words_(words), read_(read) {}

  std::string run() {
    read_.name = words_[1];
    if (read_.name.find(':') != std::string_view::npos)
      return "ERR a table is named as db.table or db.table@index, without a key behind it";
    at_ = 2;
    while (at_ < words_.size() && mistake_.empty()) read_option();
    if (mistake_.empty()) check();
    if (mistake_.empty() && !null_word_.empty()) put_nulls();
    return std::move(mistake_);
  }

 private:
  static constexpr std::size_t most_shown = 64;

  void fail(std::string text) {
    if (mistake_.empty()) mistake_ = std::move(text);
  }
  void fail_at(std::string_view what, std::string_view word) {
    fail("ERR " + std::string(what) + " '" + std::string(word.substr(0, most_shown)) +
         "', see docs/redis.md");
  }

  // The next word. Empty, and a mistake, if there is none.
  std::string_view next() {
    if (at_ < words_.size()) return words_[at_++];
    fail("ERR syntax error: a word is missing behind the last one");
    return {};
  }
  // A whole number of at least `least`.
  std::uint64_t number(std::uint64_t least) {
    const std::string_view word = next();
    std::uint64_t value = 0;
    if (mistake_.empty() && (!read_number(word, value) || value < least))
      fail("ERR value is not an integer or out of range");
    return value;
  }
  // How many words follow that belong together, each of so many.
  std::size_t count(std::size_t most, std::size_t words_of_each = 1) {
    const std::uint64_t value = number(1);
    if (!mistake_.empty()) return 0;
    if (value > (words_.size() - at_) / words_of_each)
      fail("ERR syntax error: a word is missing behind the last one");
    if (value > most) fail("ERR too many values in one list");
    return mistake_.empty() ? static_cast<std::size_t>(value) : 0;
  }
  void read_column(std::string_view& column) {
    column = next();
    if (column.empty()) fail("ERR the name of a column is empty");
  }
  void read_values(std::size_t values, std::vector<Value>& into) {
    for (; values != 0; --values) into.push_back({next()});
  }
  // A column is set once.
  void read_fields(std::size_t values, bool with_values) {
    for (; values != 0; --values) {
      read_column(read_.fields.emplace_back());
      if (with_values) read_values(1, read_.set);
    }
  }
  void read_end(bool is_lower) {
    Comparison comparison{};
    const std::string_view word = next();
    const bool is_one = read_operator(word, comparison);
    const bool is_open = comparison == (is_lower ? Comparison::greater : Comparison::less);
    const bool is_closed =
        comparison == (is_lower ? Comparison::greater_equal : Comparison::less_equal);
    if (!is_one || (!is_open && !is_closed))
      return fail_at(is_lower ? "FROM takes > or >=, and not" : "TO takes < or <=, and not", word);
    (is_lower ? read_.lower_open : read_.upper_open) = is_open;
    std::vector<Value>& values = is_lower ? read_.lower : read_.upper;
    do read_values(1, values);
    while (at_ < words_.size() && is_word(words_[at_], "then") && ++at_ != 0);
  }
  void read_condition(bool stops) {
    if (read_.conditions.size() == FindWords::most_filters) return fail("ERR too many filters");
    FindWords::Condition& one = read_.conditions.emplace_back();
    one.kind = stops ? store::FilterKind::stop : store::FilterKind::skip;
    read_column(one.column);
    const std::string_view word = next();
    if (mistake_.empty() && !read_operator(word, one.comparison))
      return fail_at("there is no operator", word);
    one.value = {next()};
  }

  void read_option() {
    const std::string_view word = words_[at_++];
    const auto found = std::ranges::find_if(
        option_words, [&](const OptionWord& one) { return is_word(word, one.word); });
    const Option option = found == option_words.end() ? no_option : found->option;
    if ((options_of(info_.command) & option) == 0)
      return fail_at("syntax error: there is no option", word);
    if (option != condition && (given_ & option) != 0)
      return fail_at("syntax error: an option comes twice,", word);
    given_ |= option;
    switch (option) {
      case no_option: break;
      case fields: return read_fields(count(FindWords::most_fields), false);
      case set: return read_fields(count(FindWords::most_fields, 2), true);
      case key: return read_values(count(FindWords::most_values), read_.key);
      case in:
        read_column(read_.in_column);
        return read_values(count(FindWords::most_values), read_.in_values);
      case from: return read_end(true);
      case to: return read_end(false);
      case begins: read_.begins = true; return read_values(1, read_.lower);
      case order:
        read_.is_ordered = true;
        read_.descends = found->word == "desc";
        return;
      case limit: read_.limit = number(1); return;
      case offset: read_.offset = number(0); return;
      case after: read_.after = number(0); return;
      case null_word: null_word_ = words_.subspan(at_).first(next_is_there()); return;
      case condition: return read_condition(found->word == "while");
    }
  }
  std::size_t next_is_there() {
    next();
    return mistake_.empty() ? 1 : 0;
  }

  // What no option sees alone.
  void check() {
    if (info_.command == Command::hs_update && (given_ & set) == 0)
      return fail("ERR syntax error: SET is missing");
    if ((given_ & begins) != 0 && (given_ & (from | to)) != 0)
      return fail("ERR syntax error: BEGINS is in the place of FROM and TO");
    constexpr unsigned selects = key | in | from | to | begins | limit | condition;
    if (writes(info_.effect) && (given_ & selects) == 0)
      return fail("ERR every row of the table is meant: say so by a LIMIT");
    if (info_.command != Command::hs_find) return;
    read_.wants_every_column = (given_ & fields) == 0;
    if ((given_ & limit) == 0) read_.limit = FindWords::usual_rows;
    read_.limit = std::min(read_.limit, FindWords::most_rows);
  }

  void put_nulls() {
    const std::string_view null = null_word_.front();
    const auto put = [&](Value& value) {
      if (value.bytes == null) value = {{}, true};
    };
    for (std::vector<Value>* const values :
         {&read_.set, &read_.key, &read_.in_values, &read_.lower, &read_.upper})
      std::ranges::for_each(*values, put);
    for (FindWords::Condition& one : read_.conditions) put(one.value);
  }

  const CommandInfo& info_;
  const std::span<const std::string_view> words_;
  FindWords& read_;
  std::size_t at_ = 0;
  unsigned given_ = 0;
  std::span<const std::string_view> null_word_{};  // one or none
  std::string mistake_;
};

void append(std::string& text, std::string_view bytes) {
  const std::uint64_t size = bytes.size();
  char room[sizeof size];
  std::memcpy(room, &size, sizeof size);
  text.append(room, sizeof size);
  text += bytes;
}

void append(std::string& text, std::span<const Value> values) {
  append(text, std::to_string(values.size()));
  for (const Value& value : values) {
    text.push_back(value.null ? '0' : '=');
    append(text, value.bytes);
  }
}

}  // namespace

std::string read_find(const CommandInfo& info, std::span<const std::string_view> words,
                      FindWords& read) {
  return Reader(info, words, read).run();
}

std::string selection_text(const FindWords& words) {
  std::string text;
  append(text, words.name);
  append(text, words.key);
  append(text, words.in_column);
  append(text, words.in_values);
  append(text, words.lower);
  append(text, words.upper);
  for (const bool is :
       {words.lower_open, words.upper_open, words.begins, words.is_ordered, words.descends})
    text.push_back(is ? '1' : '0');
  for (const FindWords::Condition& one : words.conditions) {
    text.push_back(static_cast<char>(one.kind));
    text.push_back(static_cast<char>(one.comparison));
    append(text, one.column);
    append(text, {&one.value, 1});
  }
  return text;
}

}  // namespace hs::redis
