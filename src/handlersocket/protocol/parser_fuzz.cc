// Any line gives a request or an error. A request keeps its promises, all its memory may be read,
// and it stays the same if it is written and parsed again.
#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>
#include <string_view>

#include "handlersocket/protocol/parser.h"
#include "handlersocket/protocol/request_writer.h"
#include "handlersocket/protocol/test_describe.h"
#include "handlersocket/protocol/within.h"

namespace hs::handlersocket {
namespace {

void require(bool condition) {
  if (!condition) std::abort();
}

bool write(Buffer& out, const Request& request) {
  RequestWriter writer(out);
  switch (request.kind) {
    case Kind::open_index: return writer.open_index(request.index_id, request.names);
    case Kind::find: writer.find(request.index_id, request.selection); return true;
    case Kind::count:
      writer.count(request.index_id, request.selection, request.exists);
      return true;
    case Kind::modify:
      writer.modify(request.index_id, request.selection, request.change);
      return true;
    case Kind::insert: writer.insert(request.index_id, request.insert); return true;
    case Kind::insert_rows: writer.insert_rows(request.index_id, request.insert_rows); return true;
    case Kind::auth: writer.auth(request.auth); return true;
    case Kind::hello: writer.hello(request.hello); return true;
    case Kind::describe: writer.describe(request.index_id); return true;
    case Kind::list: return writer.list(request.listed, request.names);
    case Kind::warnings: writer.warnings(); return true;
    case Kind::echo: writer.echo(request.echoed); return true;
  }
  return false;
}

void check_promises(const Parser& parser, const Request& request) {
  const bool selects =
      request.kind == Kind::find || request.kind == Kind::count || request.kind == Kind::modify;
  const bool inserts = request.kind == Kind::insert || request.kind == Kind::insert_rows;
  const bool describes = request.kind == Kind::describe;
  require(parser.has_index_id() == (selects || inserts || describes));
  if (request.kind == Kind::insert_rows)
    require(parser.is_modification() && request.insert_rows.is_valid());
  if (request.kind == Kind::insert) {
    require(parser.is_modification() && !request.insert.values.empty());
  }
  if (selects) {
    const store::Selection& selection = request.selection;
    require(selection.is_valid());
    require(parser.is_modification() == (request.kind == Kind::modify));
    const std::size_t changed = request.kind == Kind::modify ? request.change.values.size() : 0;
    require(selection.key_parts() + selection.in.values.size() + changed <= max_values);
    for (const store::Assignment& assignment : request.change.assignments)
      require(request.change.assigns() && assignment.is_valid());
  }
}

void fuzz(std::string_view whole_line) {
  const Within within = within_of(whole_line);
  require(whole_line.ends_with(within.request) && within.ms <= max_within_ms);
  require((within.ms == 0) == (within.request.size() == whole_line.size()));
  const std::string_view line = within.request;
  // The parser keeps its scratch memory from line to line, as in a worker.
  static Parser parser;
  Request request;
  if (!parser.parse(line, request).ok()) return;
  check_promises(parser, request);
  const std::string first = describe(request);

  // The names of an open index may contain a raw CR or LF here, because the line need not come from
  // a stream.
  Buffer out;
  if (!write(out, request)) return;
  require(out.view().find('\n') == out.size() - 1);
  static Parser second_parser;
  Request second;
  require(second_parser.parse(out.view(0, out.size() - 1), second).ok());
  require(describe(second) == first);
}

}  // namespace
}  // namespace hs::handlersocket

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  hs::handlersocket::fuzz({reinterpret_cast<const char*>(data), size});
  return 0;
}
