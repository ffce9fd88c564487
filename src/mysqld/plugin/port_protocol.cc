#include "mysqld/plugin/port_protocol.h"

namespace hs {

constinit const PortProtocol handlersocket_protocol{"HandlerSocket", session::handlersocket};

}  // namespace hs
