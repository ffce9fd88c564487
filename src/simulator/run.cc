#include "simulator/run.h"

#include <netinet/in.h>

#include <algorithm>
#include <array>
#include <list>
#include <memory>
#include <vector>

#include "handlersocket/session/handlersocket.h"
#include "memcached/session/memcached.h"
#include "net/handshaker.h"
#include "net/scrambled_filter.h"
#include "net/shared.h"
#include "net/streamer.h"
#include "net/waiters.h"
#include "net/worker.h"
#include "passes/pass_runner.h"
#include "passes/stream_runner.h"
#include "redis/session/redis.h"
#include "simulator/authenticator.h"
#include "simulator/client.h"
#include "simulator/faulty_store.h"
#include "simulator/greedy_client.h"
#include "simulator/handlersocket_script.h"
#include "simulator/memcached_script.h"
#include "simulator/operator.h"
#include "simulator/redis_script.h"
#include "simulator/shared_counters.h"
#include "simulator/world.h"

namespace hs::simulator {
namespace {

constexpr std::uint64_t second = 1'000'000'000;

// The ports. The same threads serve all of them, or those of some ports only read and leave the writes to
// those of the others.
enum PortNumber : std::size_t { reading, writing, redis, memcached, ports };
constexpr std::size_t handlersocket_ports = 2;
constexpr std::array<const char*, ports> protocol_names{"HandlerSocket", "HandlerSocket", "Redis",
                                                        "memcached"};

Faults choose_faults(World& world) {
  const auto sometimes = [&](unsigned percent) {
    return world.chance(50) ? static_cast<unsigned>(world.below(percent + 1)) : 0U;
  };
  const bool little_room = world.chance(40);
  const bool guessers = world.chance(30);
  const bool remote_tables = world.chance(50);
  return {.blocked = sometimes(10),
          .row_locked = sometimes(20),
          .long_write = sometimes(10),
          .broken = sometimes(5),
          .commit_fails = sometimes(20),
          .no_memory = sometimes(2),
          .reset = world.chance(30) ? 1U : 0U,
          .watched = world.chance(60),
          .closes = world.chance(30) ? 1 + static_cast<unsigned>(world.below(20)) : 0U,
          .scrambled = world.chance(50) ? 30U : 0U,
          .stall = sometimes(5),
          .little_room = little_room,
          .large_requests = little_room && world.chance(60),
          .strangers = world.chance(30),
          .most_wrong_tries = guessers ? 2 + static_cast<unsigned>(world.below(20)) : 0U,
          .refusal_delay_ms = guessers ? sometimes(300) : 0U,
          .remote_tables = remote_tables,
          .remote_patience_ms = remote_tables ? sometimes(1000) : 0U,
          .moves = remote_tables ? sometimes(10) : 0U,
          .spreads = sometimes(40)};
}

// Of Redis's scans. By chance it would have more or fewer digits, and a seed would not do the same again.
constexpr std::uint64_t first_cursor = 1'000'000;

// Those that clients come from, if there are guessers.
constexpr std::size_t addresses = 2;

constexpr std::chrono::hours never(24 * 365 * 50);

constexpr std::size_t small_request = 4096;
constexpr std::size_t large_request = 20'000;

std::size_t max_request_size(const Faults& faults) {
  return faults.large_requests ? large_request : small_request;
}

net::ServerConfig choose_config(World& world, const Faults& faults) {
  net::ServerConfig config;
  config.crews.resize(world.chance(50) ? 2 : 1);
  for (net::CrewConfig& crew : config.crews) {
    crew.workers = 1 + static_cast<unsigned>(world.below(3));
    crew.streamers = 1 + static_cast<unsigned>(world.below(2));
    crew.log_in_threads = 1;
    crew.remote_threads = faults.remote_tables ? 1 + static_cast<unsigned>(world.below(2)) : 0;
    crew.waiters = 1 + static_cast<unsigned>(world.below(4));
  }
  config.remote_patience = never;
  if (faults.remote_patience_ms != 0)
    config.remote_patience = std::chrono::milliseconds(faults.remote_patience_ms);
  config.idle_timeout = std::chrono::seconds(0);
  config.busy_poll = std::chrono::microseconds(world.chance(50) ? 30 : 0);
  config.read_size = 64 + world.below(2000);
  config.max_request_size = max_request_size(faults);
  if (faults.strangers) {
    config.log_in_timeout = std::chrono::seconds(1);
    config.max_strangers = 1 + world.below(4);
  }
  return config;
}

// A client that sends one short line at a time holds no more than this.
constexpr std::size_t allowance = 600;

// More than is free of charge.
constexpr std::size_t filter_memory = 700;

std::size_t choose_waiting_bytes(World& world, const Faults& faults) {
  if (faults.large_requests) return 40'000 + world.below(10'000);
  return faults.little_room ? 2000 + world.below(8000) : net::WaitingBytes::default_limit;
}

std::size_t choose_greedy_clients(World& world, const Faults& faults) {
  if (faults.large_requests) return 6 + world.below(12);
  return faults.little_room ? world.below(5) : 0;
}

handlersocket::RunnerConfig choose_runner(World& world, const Faults& faults) {
  handlersocket::RunnerConfig config;
  config.session.writable = true;
  config.max_request_size = max_request_size(faults);
  // It never passes: whoever waits for a lock gets it in the end.
  config.lock_wait_timeout = never;
  // A request of very many keys may not end in one pass.
  config.max_pass_steps = 1 + world.below(world.chance(50) ? 100 : 800);
  config.max_pass_bytes = 100 + world.below(20'000);
  config.looks_ahead = world.chance(50);
  config.session.secret = "right";
  config.session.wrong_secret_delay = std::chrono::milliseconds(faults.refusal_delay_ms);
  if (faults.strangers) config.session.anonymous = nullptr;
  return config;
}

// The same server as net::Server makes, except that its threads belong to the world.
class SimulatedServer {
 public:
  SimulatedServer(World& world, const Faults& faults)
      : world_(world),
        faults_(faults),
        waiting_(choose_waiting_bytes(world, faults), allowance),
        wrong_tries_(faults.most_wrong_tries),
        runner_(choose_runner(world, faults)) {
    runner_.session.authenticator = &authenticator_;
    if (faults.most_wrong_tries != 0) {
      failed_tries_.set_most_a_second(faults.most_wrong_tries);
      runner_.session.tries = &failed_tries_;
    }
    net::ServerConfig config = choose_config(world, faults);
    for (const char* const protocol : protocol_names) {
      config.ports.push_back({.protocol = protocol,
                              .counters = &counters_,
                              .crew = config.crews.size() - 1,
                              .writing_crew = config.crews.size() - 1});
    }
    for (const PortNumber port : {reading, redis, memcached}) {
      const bool only_reads = port == reading || world.chance(50);
      if (only_reads) config.ports[port].crew = 0;
    }
    config.waiting = &waiting_;
    config.filter = [](int socket, std::string_view begin) {
      return std::make_unique<net::ScrambledFilter>(socket, begin, filter_memory);
    };
    shared_ = std::make_unique<net::Shared>(
        config,
        net::ApplicationFactory{
            .make_worker =
                [this](std::size_t crew, ThreadCounters& counters) {
                  using Duty = passes::PassRunner::Duty;
                  const bool only_reads = crew + 1 < shared_->crews.size();
                  auto store =
                      std::make_unique<FaultyStore>(rows_, tables_, faults_, net::Role::worker);
                  return std::make_unique<passes::PassRunner>(runner_, std::move(store), protocols_,
                                                              counters.blocks(),
                                                              only_reads ? Duty::reads : Duty::all);
                },
            .make_streamer =
                [this](std::size_t /*crew*/, net::Role role, ThreadCounters& counters) {
                  auto store = std::make_unique<FaultyStore>(rows_, tables_, faults_, role);
                  return std::make_unique<passes::StreamRunner>(runner_, std::move(store),
                                                                protocols_, counters.blocks());
                }},
        [](net::LogLevel, const std::string&) {});
    for (net::Port& port : shared_->ports) {
      listeners_.push_back(world.open_listener());
      shared_->crews[port.config.crew].listeners.emplace_back(net::Descriptor(listeners_.back()),
                                                              port);
    }
    shared_->stop_event.open();
    for (net::Crew& crew : shared_->crews) start_crew(crew);
    for (const auto& worker : workers_) world.start_thread([&worker] { worker->run(); });
    operator_ = std::make_unique<Operator>(world, faults, *shared_);
    world.start_thread([this] { operator_->run(); });
  }

  // From one of a few addresses.
  std::shared_ptr<Socket> connect(std::size_t port, std::uint32_t address = 0) {
    return world_.connect(listeners_[port], INADDR_LOOPBACK + address);
  }
  WrongTries& wrong_tries() { return wrong_tries_; }
  const Rows& rows() const { return rows_; }
  const Tables& tables() const { return tables_; }
  std::uint64_t count(Counter counter) { return counters_.sum(counter); }
  void check() const {
    require(world_.failure().empty(), world_.failure());
    require(waiting_.held() <= waiting_.most_held(), "more waits than there is room for");
  }

  std::uint64_t closed() const { return operator_->closed(); }

  void stop() {
    operator_->leave();
    shared_->stopping = true;
    shared_->stop_event.notify();
    for (net::Crew& crew : shared_->crews) crew.wake_all();
    require(world_.run([this] { return world_.all_threads_have_ended(); }, 10 * second),
            "the server does not stop");
    require(world_.failure().empty(), world_.failure());
    for (const net::Port& port : shared_->ports)
      require(port.connections == 0, "connections are counted that are gone");
    for (const net::Crew& crew : shared_->crews) {
      for (const auto& inbox : crew.inboxes)
        require(inbox->load == 0, "a worker counts connections that are gone");
    }
    require(waiting_.held() == 0, "memory is counted that is given back");
    workers_.clear();
    streamers_.clear();
    waiters_.clear();
    handshakers_.clear();
    shared_.reset();
    require(world_.open_descriptors() == 0, "a descriptor was left open");
  }

 private:
  std::vector<passes::MakeProtocol> make_protocols() const {
    const auto containers = std::make_shared<keys::ContainerSource>();
    require(keys::read_source("db.containers", *containers), "the containers have no name");
    const auto of_redis = std::make_shared<hs::redis::Config>(
        runner_.session, runner_.max_request_size, first_cursor);
    const auto of_memcached = std::make_shared<hs::memcached::Config>(
        runner_.session, runner_.max_request_size, may_flush_);
    of_memcached->piece_bytes = 100;
    of_memcached->keys_between_looks = 3;
    of_redis->containers = of_memcached->containers = containers;
    of_redis->wall_ms = of_memcached->wall_ms = KeyScript::wall_ms;
    return {handlersocket::handlersocket(runner_), handlersocket::handlersocket(runner_),
            hs::redis::redis(of_redis), hs::memcached::memcached(of_memcached)};
  }

  void start_crew(net::Crew& crew) {
    for (unsigned i = 0; i < crew.config.workers; ++i) {
      net::Inbox& inbox =
          *crew.inboxes.emplace_back(std::make_unique<net::Inbox>(i, shared_->waiting));
      inbox.open();
      workers_.push_back(std::make_unique<net::Worker>(*shared_, crew, inbox));
      workers_.back()->open();
    }
    crew.workers_left = crew.config.workers;
    crew.waiters = &waiters_.emplace_back(*shared_, crew);
    for (const net::Role role : {net::Role::streamer, net::Role::log_in, net::Role::remote})
      start_streamers(crew, role, crew.config.*net::carrier_of(role).count);
    net::Handshaker& handshaker =
        *handshakers_.emplace_back(std::make_unique<net::Handshaker>(*shared_, crew));
    handshaker.queue().join();
    world_.start_thread([&handshaker] { handshaker.run(); });
  }

  void start_streamers(net::Crew& crew, net::Role role, unsigned count) {
    for (unsigned i = 0; i < count; ++i) {
      net::Streamer& streamer =
          *streamers_.emplace_back(std::make_unique<net::Streamer>(*shared_, crew, role));
      streamer.queue().join();
      world_.start_thread([&streamer] { streamer.run(); });
    }
  }

  World& world_;
  const Faults& faults_;
  net::WaitingBytes waiting_;
  WrongTries wrong_tries_;
  const SimulatedAuthenticator authenticator_{wrong_tries_};
  passes::FailedTries failed_tries_{1};
  handlersocket::RunnerConfig runner_;
  const Setting<bool> may_flush_ = false;
  const std::vector<passes::MakeProtocol> protocols_ = make_protocols();
  Rows rows_;
  Tables tables_;
  CounterSet counters_;
  std::unique_ptr<net::Shared> shared_;
  std::vector<int> listeners_;  // by the numbers of the ports
  std::vector<std::unique_ptr<net::Worker>> workers_;
  std::vector<std::unique_ptr<net::Streamer>> streamers_;
  std::list<net::Waiters> waiters_;  // of each crew
  std::vector<std::unique_ptr<net::Handshaker>> handshakers_;
  std::unique_ptr<Operator> operator_;
};

std::unique_ptr<Script> make_script(World& world, const Faults& faults, SimulatedServer& server,
                                    SharedCounters& counters, ClientKind kind, std::size_t port,
                                    std::uint64_t first_key) {
  if (port == redis) {
    return std::make_unique<RedisScript>(world, faults, server.tables(), counters, kind, first_key);
  }
  if (port == memcached) {
    return std::make_unique<MemcachedScript>(world, faults, server.tables(), counters, kind,
                                             first_key);
  }
  return std::make_unique<HandlerSocketScript>(world, faults, server.rows(), server.wrong_tries(),
                                               counters, kind, first_key);
}

}  // namespace

Summary run_seed(std::uint64_t seed) {
  World world(seed);
  const Faults faults = choose_faults(world);
  SimulatedServer server(world, faults);
  SharedCounters counters;
  std::list<Client> clients;
  const auto add_client = [&](ClientKind kind) {
    const std::uint64_t first_key = (clients.size() + 1) * 1000;
    const auto address =
        static_cast<std::uint32_t>(faults.most_wrong_tries != 0 ? world.below(addresses) : 0);
    std::size_t port = world.below(handlersocket_ports);
    // A guesser, and one that is alone among greedy ones, speak the protocol in which they know most.
    if (kind == ClientKind::ordinary && world.chance(50))
      port = world.chance(50) ? redis : memcached;
    Client& client = clients.emplace_back(
        world, faults, kind, make_script(world, faults, server, counters, kind, port, first_key),
        [&server, port, address] { return server.connect(port, address); });
    world.add_actor([&client] { return client.step(); });
  };
  for (std::size_t i = 1 + world.below(6); i != 0; --i) {
    const bool is_light = faults.little_room && clients.empty();
    add_client(is_light ? ClientKind::light : ClientKind::ordinary);
  }
  if (faults.most_wrong_tries != 0) {
    for (std::size_t i = 1 + world.below(3); i != 0; --i) add_client(ClientKind::guesser);
  }
  bool over = false;
  std::list<GreedyClient> greedy;
  for (std::size_t i = choose_greedy_clients(world, faults); i != 0; --i) {
    GreedyClient& client = greedy.emplace_back(
        world, max_request_size(faults) - 100,
        [&server, &world] { return server.connect(world.below(handlersocket_ports)); });
    world.add_actor([&client, &over] { return !over && client.step(); });
  }
  world.add_actor([&server] {
    server.check();
    return false;
  });
  const auto all_done = [&] {
    return std::ranges::all_of(clients, [](const Client& client) { return client.done(); });
  };
  try {
    require(world.run(all_done, 600 * second), "somebody is not served");
    over = true;
    server.stop();
    for (const Client& client : clients) client.script().check_end();
    counters.check(server.tables());
  } catch (const Failure& failure) {
    std::string report = world.failure().empty() ? failure.what() : world.failure();
    for (const Client& client : clients) report += "\n- " + client.story();
    // What a binary protocol says would end it.
    std::ranges::replace(report, '\0', '.');
    throw Failure(report);
  }
  std::uint64_t waited_too_long = 0;
  std::uint64_t timed_out = 0;
  for (const Client& client : clients) {
    waited_too_long += client.script().waited_too_long();
    timed_out += client.script().timed_out();
  }
  return {.requests = server.count(Counter::requests_find) + server.count(Counter::requests_count) +
                      server.count(Counter::requests_update) +
                      server.count(Counter::requests_erase),
          .connections = clients.size(),
          .long_finds = server.count(Counter::long_finds),
          .parked = server.count(Counter::finds_parked),
          .writes_aside = server.count(Counter::writes_aside),
          .remote = server.count(Counter::requests_remote),
          .waited_too_long = waited_too_long,
          .timed_out = timed_out,
          .replays = server.count(Counter::passes_replayed),
          .handshakes = server.count(Counter::tls_handshakes),
          .log_ins = server.count(Counter::requests_log_in),
          .failed_log_ins = server.count(Counter::log_ins_failed),
          .slowed_log_ins = server.count(Counter::log_ins_slowed),
          .late = server.count(Counter::log_ins_late),
          .refused = server.count(Counter::connections_refused),
          .shed = server.count(Counter::connections_shed),
          .closed = server.closed()};
}

}  // namespace hs::simulator
