// The plugin with the second protocol of the tests in the place of HandlerSocket.
//
// src/mysqld/CMakeLists.txt links it with all objects of the plugin. This constructor is then taken
// before that of the library, and nothing refers to HandlerSocket any more. The table is hst.kv.
#include <memory>
#include <utility>

#include "handlersocket/session/pass_runner.h"
#include "passes/test_line_protocol.h"

namespace hs::session {

PassRunner::PassRunner(const RunnerConfig& config, std::unique_ptr<store::Store> store,
                       CounterBlock& counters)
    : Runner(
          config, std::move(store),
          [](store::Store&) {
            return std::make_unique<passes::LineProtocol>(
                store::IndexNames{"hst", "kv", "", "v,k", ""});
          },
          counters) {}

}  // namespace hs::session
