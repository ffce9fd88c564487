// written(): the line of a request, for tests.
//
// Only tests include it.
#pragma once

#include <string>

#include "base/buffer.h"
#include "handlersocket/protocol/request_writer.h"

namespace hs::handlersocket {

// Empty if one of the request's names cannot be written.
inline std::string written(const Request& request) {
  Buffer out;
  RequestWriter writer(out);
  switch (request.kind) {
    case Kind::open_index:
      if (!writer.open_index(request.index_id, request.names)) return {};
      break;
    case Kind::find: writer.find(request.index_id, request.selection); break;
    case Kind::count: writer.count(request.index_id, request.selection, request.exists); break;
    case Kind::modify: writer.modify(request.index_id, request.selection, request.change); break;
    case Kind::insert: writer.insert(request.index_id, request.insert); break;
    case Kind::insert_rows: writer.insert_rows(request.index_id, request.insert_rows); break;
    case Kind::auth: writer.auth(request.auth); break;
    case Kind::hello: writer.hello(request.hello); break;
    case Kind::describe: writer.describe(request.index_id); break;
    case Kind::list:
      if (!writer.list(request.listed, request.names)) return {};
      break;
    case Kind::warnings: writer.warnings(); break;
    case Kind::echo: writer.echo(request.echoed); break;
  }
  return std::string(out.view());
}

}  // namespace hs::handlersocket
