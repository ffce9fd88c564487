#include "memcached/protocol/reply.h"

#include <array>

#include "base/short_bytes.h"
#include "base/short_number.h"
#include "memcached/protocol/binary_packet.h"

namespace hs::memcached {
namespace {

std::string_view text_of(Code code) {
  switch (code) {
    case Code::not_found: return "Not found";
    case Code::exists: return "Data exists for key.";
    case Code::too_large: return "Too large.";
    case Code::bad_arguments: return "Invalid arguments";
    case Code::not_stored: return "Not stored.";
    case Code::not_numeric: return "Non-numeric server-side value for incr or decr";
    case Code::no_rights: return "Auth failure.";
    case Code::unknown_command: return "Unknown command";
    default: return {};
  }
}

// In a sum a text command answers the number, whatever else it does.
bool is_sum(Action action) { return action == Action::increment || action == Action::decrement; }

Code code_of_not_stored(Action action) {
  if (action == Action::add) return Code::exists;
  return action == Action::replace ? Code::not_found : Code::not_stored;
}

}  // namespace

void Reply::line(std::string_view text) {
  out_.append(text);
  out_.append("\r\n");
}

void Reply::number(std::uint64_t number) {
  out_.advance_to(write_number(out_.reserve(most_number_digits), number));
}

void Reply::packet(const Asked& asked, Code code, std::string_view extras, std::string_view key,
                   std::string_view value, std::uint64_t cas) {
  const std::size_t body = extras.size() + key.size() + value.size();
  char* to = out_.reserve(BinaryHeader::size + body);
  to = write_reply_header(to, {.opcode = asked.opcode,
                               .key = static_cast<std::uint16_t>(key.size()),
                               .extras = static_cast<std::uint8_t>(extras.size()),
                               .status = static_cast<std::uint16_t>(code),
                               .body = static_cast<std::uint32_t>(body),
                               .opaque = asked.opaque,
                               .cas = cas});
  out_.advance_to(copy_bytes(copy_bytes(copy_bytes(to, extras), key), value));
}

void Reply::text_item(const Request& request, std::string_view key, const Shown& shown) {
  char* to = out_.reserve(key.size() + shown.value.size() + 3 * most_number_digits + 16);
  to = copy_bytes(copy_bytes(to, "VALUE "), key);
  *to++ = ' ';
  to = write_number(to, shown.flags);
  *to++ = ' ';
  to = write_number(to, shown.value.size());
  if (request.shows_cas) {
    *to++ = ' ';
    to = write_number(to, shown.cas);
  }
  to = copy_bytes(copy_bytes(copy_bytes(to, "\r\n"), shown.value), "\r\n");
  out_.advance_to(to);
}

// The flags that a client wants to have back, in its order.
void Reply::meta(std::string_view code, const Request& request, const Done* done) {
  out_.append(code);
  // The flags have their effect one after the other: a time that is asked for before it is changed is the old one.
  const char changes_time = done != nullptr && done->item.is_new ? 'N' : 'T';
  bool is_changed = false;
  for (const std::string_view flag : request.meta_flags) {
    const char letter = flag[0];
    is_changed = is_changed || letter == changes_time;
    const bool is_of_item = letter == 'c' || letter == 'f' || letter == 's' || letter == 't';
    if (letter == 'O') {
      out_.push_back(' ');
      out_.append(flag);
    } else if (letter == 'k') {
      out_.append(" k");
      out_.append(request.written_key);
      if (request.has_base64_key) out_.append(" b");
    } else if (is_of_item && done != nullptr) {
      const bool is_store = stores_value(request.action);
      const bool is_get = request.action == Action::get || request.action == Action::touch_and_get;
      if (letter == 'f' && !is_get) continue;
      if (letter == 't' && is_store) continue;
      if (letter == 's' && !is_get && !is_store) continue;
      out_.push_back(' ');
      out_.push_back(letter);
      const std::int64_t left =
          is_changed ? done->item.seconds_left : done->item.seconds_left_before;
      if (letter == 't' && left < 0) {
        out_.append("-1");
        continue;
      }
      number(letter == 'c'   ? done->item.cas
             : letter == 'f' ? done->item.flags
             : letter == 's' ? done->value_size
                             : static_cast<std::uint64_t>(left));
    }
  }
  out_.append("\r\n");
}

void Reply::item(const Request& request, std::string_view key, const Shown& shown) {
  switch (request.form) {
    case Form::text: return text_item(request, key, shown);
    case Form::binary: {
      std::array<char, sizeof(std::uint32_t)> flags{};
      write_big(flags.data(), shown.flags);
      return packet(request, Code::ok, {flags.data(), flags.size()},
                    request.shows_key ? key : std::string_view(),
                    request.shows_value ? shown.value : std::string_view(), shown.cas);
    }
    case Form::meta: break;
  }
  const Done done{.value_size = shown.value.size(), .item = shown};
  if (request.action == Action::describe) {
    out_.append("ME ");
    out_.append(request.written_key);
    out_.append(" exp=");
    if (shown.seconds_left < 0) {
      out_.append("-1");
    } else {
      number(static_cast<std::uint64_t>(shown.seconds_left));
    }
    out_.append(" la=0 cas=");
    number(shown.cas);
    out_.append(" fetch=no cls=1 size=");
    number(shown.value.size());
    return line("");
  }
  if (!request.shows_value) return meta("HD", request, &done);
  out_.append("VA ");
  number(shown.value.size());
  meta("", request, &done);
  line(shown.value);
}

void Reply::no_item(const Request& request, std::string_view key) {
  if (request.form == Form::text) return;
  if (request.form == Form::meta) {
    if (request.action == Action::describe) return line("EN");
    if (!request.is_quiet) meta("EN", request, nullptr);
    return;
  }
  if (request.is_quiet) return;
  if (request.shows_key) return packet(request, Code::not_found, {}, key, {});
  packet(request, Code::not_found, {}, {}, text_of(Code::not_found));
}

void Reply::end_of_items(const Asked& asked) {
  if (asked.form == Form::text) out_.append("END\r\n");
}

void Reply::text_change(const Request& request, const Done& done) {
  if (request.is_quiet) return;
  switch (done.result) {
    case Result::not_stored: return line("NOT_STORED");
    case Result::exists: return line("EXISTS");
    case Result::not_found: return line("NOT_FOUND");
    case Result::done: break;
  }
  if (is_sum(request.action)) {
    number(done.number);
    return line("");
  }
  if (request.action == Action::erase) return line("DELETED");
  line(request.action == Action::touch ? "TOUCHED" : "STORED");
}

void Reply::meta_change(const Request& request, const Done& done) {
  const Done* const shown = stores_value(request.action) ? &done : nullptr;
  switch (done.result) {
    case Result::not_stored: return meta("NS", request, shown);
    case Result::exists: return meta("EX", request, shown);
    case Result::not_found: return meta("NF", request, shown);
    case Result::done: break;
  }
  if (request.is_quiet) return;
  if (is_sum(request.action) && request.shows_value) {
    std::array<char, most_number_digits> digits{};
    const auto size =
        static_cast<std::size_t>(write_number(digits.data(), done.number) - digits.data());
    out_.append("VA ");
    number(size);
    meta("", request, &done);
    return line({digits.data(), size});
  }
  meta("HD", request, &done);
}

void Reply::binary_change(const Request& request, const Done& done) {
  Code code = Code::ok;
  if (done.result == Result::not_stored) code = code_of_not_stored(request.action);
  if (done.result == Result::exists) code = Code::exists;
  if (done.result == Result::not_found) code = Code::not_found;
  if (code != Code::ok) return packet(request, code, {}, {}, text_of(code));
  if (request.is_quiet) return;
  if (!is_sum(request.action)) {
    const bool is_erased = request.action == Action::erase;
    return packet(request, code, {}, {}, {}, is_erased ? 0 : done.item.cas);
  }
  std::array<char, sizeof(std::uint64_t)> sum{};
  write_big(sum.data(), done.number);
  packet(request, code, {}, {}, {sum.data(), sum.size()}, done.item.cas);
}

void Reply::change(const Request& request, const Done& done) {
  switch (request.form) {
    case Form::text: return text_change(request, done);
    case Form::meta: return meta_change(request, done);
    case Form::binary: return binary_change(request, done);
  }
}

void Reply::ok(const Asked& asked) {
  if (asked.is_quiet) return;
  if (asked.form == Form::binary) return packet(asked, Code::ok, {}, {}, {});
  line("OK");
}

void Reply::version(const Asked& asked) {
  if (asked.form == Form::binary) return packet(asked, Code::ok, {}, {}, memcached_version);
  out_.append("VERSION ");
  line(memcached_version);
}

void Reply::noop(const Asked& asked) {
  if (asked.form == Form::binary) return packet(asked, Code::ok, {}, {}, {});
  line("MN");
}

void Reply::logged_in(const Asked& asked) {
  if (asked.form == Form::binary) return packet(asked, Code::ok, {}, {}, "Authenticated");
  line("STORED");
}

void Reply::ways_to_log_in(const Asked& asked) { packet(asked, Code::ok, {}, {}, "PLAIN"); }

void Reply::stat(const Asked& asked, std::string_view name, std::string_view value) {
  if (asked.form == Form::binary) return packet(asked, Code::ok, {}, name, value);
  for (const std::string_view part :
       {std::string_view("STAT "), name, std::string_view(" "), value})
    out_.append(part);
  line("");
}

void Reply::end_of_stats(const Asked& asked) {
  if (asked.form == Form::binary) return packet(asked, Code::ok, {}, {}, {});
  line("END");
}

void Reply::reset(const Asked& asked) {
  if (asked.form == Form::binary) return packet(asked, Code::ok, {}, {}, {});
  line("RESET");
}

void Reply::error(const Asked& asked, Status status) {
  if (asked.form == Form::text && asked.is_quiet) return;
  std::string text;
  append_text(status, text);
  if (asked.form != Form::binary) return line(text);
  const Code code = code_of(status);
  // Clients know memcached's own texts; the others say more.
  std::string_view words = text_of(code);
  if (status.kind() != Error::protocol || words.empty())
    words = std::string_view(text).substr(text.find(' ') + 1);
  packet(asked, code, {}, {}, words);
}

}  // namespace hs::memcached
