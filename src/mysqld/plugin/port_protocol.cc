#include "mysqld/plugin/port_protocol.h"

#include <memory>

#include "memcached/session/memcached.h"
#include "redis/session/redis.h"

namespace hs {

constinit const PortProtocol handlersocket_protocol{
    "HandlerSocket",
    [](const PortSettings& settings) { return handlersocket::handlersocket(settings); }};

constinit const PortProtocol redis_protocol{"Redis", [](const PortSettings& settings) {
                                              auto config = std::make_shared<redis::Config>(
                                                  settings.session, settings.max_request_size);
                                              config->writable = settings.session.writable;
                                              config->default_database = settings.default_database;
                                              config->containers = settings.containers;
                                              config->facts = settings.facts;
                                              config->connections = settings.connections;
                                              config->close = settings.close;
                                              return redis::redis(std::move(config));
                                            }};

constinit const PortProtocol memcached_protocol{"memcached", [](const PortSettings& settings) {
                                                  auto config = std::make_shared<memcached::Config>(
                                                      settings.session, settings.max_request_size,
                                                      settings.may_flush);
                                                  config->writable = settings.session.writable;
                                                  config->containers = settings.containers;
                                                  config->facts = settings.memcached_facts;
                                                  return memcached::memcached(std::move(config));
                                                }};

}  // namespace hs
