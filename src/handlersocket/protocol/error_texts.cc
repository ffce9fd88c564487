#include "handlersocket/protocol/error_texts.h"

#include "handlersocket/protocol/errors.h"

namespace hs::handlersocket {
namespace {

constexpr SqlError syntax(std::string_view text) { return {1149, "42000", text}; }

SqlError text_of(Mistake mistake) {
  switch (mistake) {
    case Mistake::cmd: return syntax("This is no request, or none that may stand here");
    case Mistake::stmtnum: return {1243, "HY000", "No index is open by this number"};
    case Mistake::op: return syntax("The operator or the range is wrong");
    case Mistake::klen: return syntax("The number of values is wrong, or values are missing");
    case Mistake::modop: return syntax("The modification is wrong");
    case Mistake::readonly: return {1290, "HY000", "This port is for reading"};
    case Mistake::limit: return syntax("The limit is no number");
    case Mistake::offset: return syntax("The offset is no number");
    case Mistake::icol: return syntax("The number of the key part of IN is wrong");
    case Mistake::invalueslen:
      return syntax("The number of values of IN is wrong, or values are missing");
    case Mistake::filtertype: return syntax("The type of a filter is wrong");
    case Mistake::filterfld: return {1054, "42S22", "There is no such filter column"};
    case Mistake::filterop: return syntax("The operator of a filter is wrong");
    case Mistake::fld: return {1054, "42S22", "There is no such column"};
    case Mistake::escape: return syntax("A byte 0x01 is not followed by one from 0x40 to 0x4F");
    case Mistake::notimpl: return {1235, "42000", "This is not implemented"};
    case Mistake::request_size: return {1153, "08S01", "The request is too large"};
    case Mistake::max_waiting_bytes:
      return {1041, "HY000", "Too many bytes wait to be executed or to be read"};
    case Mistake::tls: return {3159, "HY000", "The connection has to be encrypted"};
    case Mistake::foreign: return {1043, "08S01", "The client speaks another protocol"};
    case Mistake::unauth: return {1045, "28000", "Nobody is logged in"};
    case Mistake::authtype: return {1251, "08004", "There is no such way to log in"};
    case Mistake::unmet:
      return {1020, "HY000", "A row that must be there is not, or one that must not be is"};
    case Mistake::undone: return {1180, "HY000", "Another line of the group has failed"};
    case Mistake::none:
    case Mistake::count_: break;
  }
  return {};
}

}  // namespace

SqlError error_text_of(Status status) {
  if (status.kind() == Error::protocol) return text_of(static_cast<Mistake>(status.number()));
  return hs::sql_error_of(status);
}

}  // namespace hs::handlersocket
