// The plugin with the second protocol of the tests in the place of HandlerSocket.
//
// src/mysqld/CMakeLists.txt links it with all objects of the plugin. This function is then taken
// before that of the library, and nothing refers to HandlerSocket any more. The table is hst.kv.
#include <memory>

#include "handlersocket/session/handlersocket.h"
#include "passes/test_line_protocol.h"

namespace hs::session {

passes::MakeProtocol handlersocket(const RunnerConfig& /*config*/) {
  return [](store::Store&, CounterBlock&) {
    return std::make_unique<passes::LineProtocol>(store::IndexNames{"hst", "kv", "", "v,k", ""});
  };
}

}  // namespace hs::session
