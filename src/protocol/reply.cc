#include "protocol/reply.h"

#include <cassert>

#include "protocol/number.h"

namespace hs::protocol {

void ReplyWriter::ok(std::uint64_t number) {
  out_.append("0\t1\t");
  append_number(out_, number);
  out_.push_back('\n');
}

void ReplyWriter::error(Status status) {
  assert(!status.ok());
  const ErrorInfo& info = status.info();
  append_number(out_, info.code);
  out_.append("\t1\t");
  if (status.error() == Error::server) {
    append_number(out_, status.number());
  } else {
    out_.append(info.text);
  }
  out_.push_back('\n');
}

void ReplyWriter::begin_wide_rows(std::uint32_t columns) {
  out_.append("0\t");
  append_number(out_, columns);
}

}  // namespace hs::protocol
