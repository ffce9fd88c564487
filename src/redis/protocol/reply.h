// Reply: writes replies in RESP2 or RESP3.
//
// It appends to a buffer that belongs to somebody else, on the thread that has the turn. What RESP3 has
// a type for and RESP2 has not takes the form that Redis gives it: a map is a flat array, a set an array,
// a true or false a number, a double a bulk string. It knows no command.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/buffer.h"
#include "base/short_bytes.h"
#include "base/short_number.h"

namespace hs::redis {

enum class Resp : std::uint8_t { two = 2, three = 3 };

class Reply {
 public:
  Reply(Buffer& out, Resp resp) : out_(out), resp_(resp) {}

  Resp resp() const { return resp_; }
  bool is_three() const { return resp_ == Resp::three; }
  Buffer& out() const { return out_; }

  // A text without CR and LF.
  void simple(std::string_view text) {
    out_.push_back('+');
    out_.append(text);
    out_.append("\r\n");
  }
  void ok() { out_.append("+OK\r\n"); }
  void integer(std::int64_t number) { head(':', number); }
  void bulk(std::string_view bytes) {
    out_.advance_to(write_bulk(out_.reserve(bytes.size() + most_of_bulk), bytes));
  }
  // A bulk string that written() has made, and behind it another one of these bytes.
  void written_and_bulk(std::string_view written, std::string_view bytes) {
    char* const to = out_.reserve(written.size() + bytes.size() + most_of_bulk);
    out_.advance_to(write_bulk(copy_bytes(to, written), bytes));
  }
  // The bytes as a bulk string, to be written many times.
  static std::string written(std::string_view bytes) {
    std::string bulk(bytes.size() + most_of_bulk, '\0');
    bulk.resize(static_cast<std::size_t>(write_bulk(bulk.data(), bytes) - bulk.data()));
    return bulk;
  }
  void null() { out_.append(is_three() ? std::string_view("_\r\n") : std::string_view("$-1\r\n")); }
  // In place of an array that there is not.
  void null_array() {
    out_.append(is_three() ? std::string_view("_\r\n") : std::string_view("*-1\r\n"));
  }
  void array(std::size_t count) { head('*', static_cast<std::int64_t>(count)); }
  void map(std::size_t pairs) {
    head(is_three() ? '%' : '*', static_cast<std::int64_t>(is_three() ? pairs : 2 * pairs));
  }
  void set(std::size_t count) { head(is_three() ? '~' : '*', static_cast<std::int64_t>(count)); }
  void boolean(bool is) {
    if (!is_three()) return integer(is ? 1 : 0);
    out_.append(is ? "#t\r\n" : "#f\r\n");
  }
  // A number in its decimal form.
  void number(std::string_view text) {
    if (!is_three()) return bulk(text);
    out_.push_back(',');
    out_.append(text);
    out_.append("\r\n");
  }
  // Text for people, of several lines.
  void verbatim(std::string_view text) {
    if (!is_three()) return bulk(text);
    head('=', static_cast<std::int64_t>(text.size() + 4));
    out_.append("txt:");
    out_.append(text);
    out_.append("\r\n");
  }
  // `text` begins with the error's code. What would end the line is made a blank.
  void error(std::string_view text) {
    out_.push_back('-');
    for (const char byte : text) out_.push_back(byte == '\r' || byte == '\n' ? ' ' : byte);
    out_.append("\r\n");
  }

  // The room of the head of a bulk string or an array, with any length.
  static constexpr std::size_t most_head = 24;
  static char* write_head(char* to, char kind, std::int64_t number) {
    *to++ = kind;
    to = write_number(to, number);
    *to++ = '\r';
    *to++ = '\n';
    return to;
  }

 private:
  static constexpr std::size_t most_of_bulk = most_head + 2;  // and its bytes
  static char* write_bulk(char* to, std::string_view bytes) {
    to = write_head(to, '$', static_cast<std::int64_t>(bytes.size()));
    to = copy_bytes(to, bytes);
    *to++ = '\r';
    *to++ = '\n';
    return to;
  }
  void head(char kind, std::int64_t number) {
    out_.advance_to(write_head(out_.reserve(most_head), kind, number));
  }

  Buffer& out_;
  const Resp resp_;
};

}  // namespace hs::redis
