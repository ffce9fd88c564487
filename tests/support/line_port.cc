// What the port of line_port.h speaks. The tables are hst.kv, hst.other, hst.ranges and hst.assigned.
#include "mysqld/plugin/port_protocol.h"
#include "passes/test_line_protocol.h"

namespace hs {

constinit const PortProtocol line_protocol{
    "lines", [](const PortSettings& /*settings*/) -> passes::MakeProtocol {
      return [](store::Store& /*store*/, CounterBlock& /*counters*/) {
        return std::make_unique<passes::LineProtocol>(
            store::IndexNames{"hst", "kv", "", "v,k", ""},
            store::IndexNames{"hst", "other", "", "v,k", ""},
            store::IndexNames{"hst", "ranges", "r", "id", ""},
            store::IndexNames{"hst", "assigned", "", "id,n,u,d,f,s,b,at_now,day,doubled,bits", ""});
      };
    }};

}  // namespace hs
