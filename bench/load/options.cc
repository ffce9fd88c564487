#include "load/options.h"

#include <CLI/CLI.hpp>
#include <fstream>
#include <iostream>
#include <map>
#include <optional>

namespace hs::bench {
namespace {

// The rate of the light client of --beside.
constexpr double light_rate = 200;

struct Work {
  Mix mix;
  std::optional<Distribution> distribution;
};

// The works have the names of YCSB's core workloads. Its workload E (scans) is --limit here.
const std::map<std::string, Work>& works() {
  static const std::map<std::string, Work> table{
      {"find", {{.find = 100}, {}}},
      {"update", {{.find = 0, .update = 100}, {}}},
      {"insert", {{.find = 0, .insert = 100}, {}}},
      {"upsert", {{.find = 0, .upsert = 100}, {}}},
      {"connect", {{.find = 100}, {}}},
      {"ycsb-a", {{.find = 50, .update = 50}, Distribution::zipfian}},
      {"ycsb-b", {{.find = 95, .update = 5}, Distribution::zipfian}},
      {"ycsb-c", {{.find = 100}, Distribution::zipfian}},
      {"ycsb-d", {{.find = 95, .insert = 5}, Distribution::latest}},
      {"ycsb-f", {{.find = 50, .read_modify_write = 50}, Distribution::zipfian}},
      {"mix", {{.find = 100}, {}}},
  };
  return table;
}

const std::map<std::string, Distribution> distributions{
    {"uniform", Distribution::uniform},       {"zipfian", Distribution::zipfian},
    {"latest", Distribution::latest},         {"hot", Distribution::hot},
    {"sequential", Distribution::sequential},
};

const std::map<std::string, Protocol> protocols{
    {"handlersocket", Protocol::handlersocket},
    {"echo", Protocol::handlersocket},  // any server that answers each line with a line
    {"memcached", Protocol::memcached},
    {"memcached-meta", Protocol::memcached_meta},  // mg and ms in place of get and set
    {"redis", Protocol::redis},
    {"redis-hash", Protocol::redis_hash},
    {"mysqlx", Protocol::mysqlx},
};

std::string names_of(const auto& table) {
  std::string names;
  for (const auto& [name, value] : table) names += (names.empty() ? "" : ", ") + name;
  return names;
}

bool parse_templates(const std::vector<std::string>& texts, std::vector<ValueTemplate>& out) {
  for (const std::string& text : texts) {
    std::optional<ValueTemplate> value = ValueTemplate::parse(text);
    if (!value) {
      std::cerr << "error: '" << text << "' is no template: {key}, {n}, {key:07} are known\n";
      return false;
    }
    out.push_back(std::move(*value));
  }
  return true;
}

// Options that the command line gives as text, and that Options holds as other types.
struct Texts {
  std::string protocol = "handlersocket";
  std::string distribution;
  std::vector<std::string> update_values{std::string(same_size_update)};
  std::vector<std::string> insert_values{"{key}", "user_{key:07}", "user_{key:07}@example.com",
                                         "2020-01-01 00:00:00"};
  std::vector<std::string> stored_key{"user:{key}"};
  std::vector<std::string> stored_value{
      "user_{key:07}\tuser_{key:07}@example.com\t2020-01-01 00:00:00"};
  std::vector<std::string> check;
  std::vector<std::string> beside;
  std::string password_file;
  bool tls = false;
  bool tls_unchecked = false;
  double warm_up = 1;
  double duration = 5;
};

void declare(CLI::App& app, Options& options, Texts& texts) {
  app.add_option("--protocol", texts.protocol, "what the server speaks")
      ->check(CLI::IsMember(protocols))
      ->capture_default_str();
  app.add_option("--host", options.host, "a name, or an IPv4 or IPv6 address")
      ->capture_default_str();
  app.add_option("--port", options.port)->capture_default_str();
  app.add_option("--socket", options.unix_socket, "a Unix socket instead of host and port");
  app.add_option("--secret", options.secret, "log in with this secret first");
  app.add_option("--user", options.user, "log in as this user first; mysqlx: root by default");
  app.add_option("--password-file", texts.password_file,
                 "a file whose first line is the user's password; - is standard input");
  CLI::Option* tls =
      app.add_flag("--tls", texts.tls, "speak TLS, and check the server's certificate");
  app.add_option("--tls-ca", options.tls_ca, "trust the certificates of this file, in PEM")
      ->needs(tls);
  app.add_flag("--tls-unchecked", texts.tls_unchecked, "take any certificate of the server")
      ->needs(tls);

  app.add_option("--database", options.database)->capture_default_str();
  app.add_option("--table", options.table)->capture_default_str();
  app.add_option("--index", options.index)->capture_default_str();
  app.add_option("--key-column", options.key_column, "mysqlx: what a key is compared with")
      ->capture_default_str();
  app.add_option("--columns", options.columns,
                 "columns that a find asks for; redis-hash: * is HGETALL")
      ->capture_default_str();
  app.add_option("--update-columns", options.update_columns)->capture_default_str();
  app.add_option("--update-value", texts.update_values, "one for each column of an update")
      ->capture_default_str();
  app.add_option("--insert-columns", options.insert_columns)->capture_default_str();
  app.add_option("--insert-value", texts.insert_values, "one for each column of an insert")
      ->capture_default_str();
  app.add_option("--stored-key", texts.stored_key, "memcached, Redis: the name of a key")
      ->expected(1);
  app.add_option("--stored-value", texts.stored_value, "memcached, Redis: what a set stores")
      ->expected(1);

  app.add_option("--insert-rows", options.rows_per_insert, "rows of one insert")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--upsert-add", options.upsert_add,
                 "an upsert inserts a row whose key may be there, and then adds this to its last "
                 "column")
      ->capture_default_str();

  app.add_option("--work", options.work, "one of: " + names_of(works()))
      ->check(CLI::IsMember(works()))
      ->capture_default_str();
  app.add_option("--find-share", options.mix.find, "percent of finds, for --work mix");
  app.add_option("--update-share", options.mix.update, "percent of updates, for --work mix");
  app.add_option("--insert-share", options.mix.insert, "percent of inserts, for --work mix");
  app.add_option("--upsert-share", options.mix.upsert, "percent of upserts, for --work mix");
  app.add_option("--distribution", texts.distribution,
                 "which keys; one of: " + names_of(distributions))
      ->check(CLI::IsMember(distributions));
  app.add_option("--first-key", options.keys.first)->capture_default_str();
  app.add_option("--keys", options.keys.count, "how many keys there are")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}))
      ->capture_default_str();
  app.add_option("--hot-keys", options.keys.hot_keys, "how many of them are hot")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{10'000'000'000}))
      ->capture_default_str();
  app.add_option("--skew", options.keys.skew, "of the Zipf distribution")
      ->check(CLI::Range(0.01, 0.999))
      ->capture_default_str();
  app.add_option("--multi-get", options.keys_per_find, "keys in one find")
      ->check(CLI::Range(1, 10'000))
      ->capture_default_str();
  app.add_option("--limit", options.limit, "rows of one find, from its key up")
      ->check(CLI::Range(std::uint64_t{1}, std::uint64_t{1'000'000'000}))
      ->capture_default_str();
  app.add_option("--check", texts.check, "what the first column of each found row has to be")
      ->expected(1);

  CLI::Option* beside =
      app.add_option("--beside", texts.beside,
                     "be the bystander: one request at a time, first alone, then beside each of "
                     "these greedy loads: " +
                         names_of_greed())
          ->delimiter(',');
  app.add_option("--connections", options.connections)
      ->check(CLI::Range(1, 100'000))
      ->excludes(beside)
      ->capture_default_str();
  app.add_option("--threads", options.threads, "client threads")
      ->check(CLI::Range(1, 256))
      ->excludes(beside)
      ->capture_default_str();
  app.add_option("--sources", options.sources,
                 "loopback addresses to connect from, in turn: each has 28,000 ports a minute")
      ->check(CLI::Range(1, 250))
      ->capture_default_str();
  app.add_option("--depth", options.depth, "requests in flight on each connection")
      ->check(CLI::Range(1, 100'000))
      ->excludes(beside)
      ->capture_default_str();
  app.add_option("--rate", options.rate,
                 "requests a second, whatever the server does (open loop); 0: as many as it takes; "
                 "with --beside 200 if it is not given")
      ->check(CLI::Range(0.0, 100e6))
      ->capture_default_str();
  app.add_option("--operations", options.operations, "stop after so many requests")
      ->excludes(beside);
  app.add_option("--warm-up", texts.warm_up, "seconds before measuring")
      ->check(CLI::Range(0.0, 3600.0))
      ->capture_default_str();
  app.add_option("--duration", texts.duration, "seconds of measuring")
      ->check(CLI::Range(0.05, 86400.0))
      ->capture_default_str();
  app.add_option("--seed", options.seed, "of the random numbers")->capture_default_str();
  options.first_number = number_of_this_run();
  app.add_option("--first-number", options.first_number, "where {n} begins; by default the time");
  app.add_option("--server-pid", options.server_pid, "process whose CPU time is measured");
  app.add_option("--json", options.json_path, "where the result goes as JSON; - is stdout");
  app.add_flag("--quiet", options.quiet, "no progress on stderr");
}

// Not from the command line, which everybody on the machine can read.
bool read_password(const std::string& path, std::string& password) {
  if (path.empty()) return true;
  std::ifstream file;
  if (path != "-") file.open(path);
  std::getline(path == "-" ? std::cin : file, password);
  if (!password.empty()) return true;
  std::cerr << "error: --password-file " << path << ": there is no password\n";
  return false;
}

bool parse_greed(const std::vector<std::string>& names, std::vector<Greed>& out) {
  for (const std::string& name : names) {
    const std::optional<Greed> greed = greed_of(name);
    if (!greed) {
      std::cerr << "error: --beside '" << name << "': one of " << names_of_greed() << '\n';
      return false;
    }
    out.push_back(*greed);
  }
  return true;
}

// Checks options that depend on each other. Returns an empty text if all is well.
std::string contradiction(const Options& options) {
  const Mix& mix = options.mix;
  if (mix.sum() != 100) return "the shares of --work mix have to add up to 100";
  if (options.connections < options.threads) return "more --threads than --connections";
  if (options.keys_per_find > 1 && options.limit > 1) return "--multi-get and --limit together";
  if (options.protocol != Protocol::handlersocket) {
    if (mix.read_modify_write != 0) return "only handlersocket modifies what it reads";
    if (mix.upsert != 0) return "only handlersocket has upserts";
    if (options.rows_per_insert > 1) return "only handlersocket has --insert-rows";
    if (options.limit > 1) return "only handlersocket has a --limit";
    if (!options.check.empty()) return "only handlersocket has a --check";
    if (options.reconnect) return "only handlersocket has --work connect";
  }
  if (options.protocol == Protocol::memcached_meta && options.keys_per_find > 1)
    return "memcached-meta has one key in a request: no --multi-get";
  if (options.protocol == Protocol::redis_hash) {
    if (options.keys_per_find > 1) return "redis-hash has one key in a request: no --multi-get";
    if (options.columns == "*" && mix.find != 100) return "--columns=* is for finds";
  }
  if (options.tls != Tls::off && !options.unix_socket.empty())
    return "--tls and --socket together: TLS is for TCP";
  if (options.tls == Tls::unchecked && !options.tls_ca.empty())
    return "--tls-ca and --tls-unchecked together";
  if (!options.password.empty() && options.user.empty()) return "--password-file needs a --user";
  if (options.protocol == Protocol::mysqlx) {
    if (options.unix_socket.empty()) return "mysqlx logs in over a --socket only";
    if (mix.insert != 0) return "mysqlx has no inserts here";
    if (options.update_values.size() > 1) return "mysqlx updates one column here";
  }
  if (options.sources > 1 && (!options.unix_socket.empty() || options.host != "127.0.0.1"))
    return "--sources are addresses beside 127.0.0.1: for that host only";
  if (options.beside.empty()) {
    return options.reconnect && options.rate > 0 ? "--work connect has no --rate" : "";
  }
  if (options.reconnect) return "--work connect and --beside together";
  if (options.rate <= 0) return "--beside needs a --rate";
  for (const Greed greed : options.beside) {
    const std::string wrong = refusal(greed, options);
    if (!wrong.empty()) return "--beside " + std::string(name_of(greed)) + ": " + wrong;
  }
  return {};
}

}  // namespace

Parsed parse_options(int argc, char** argv, Options& options) {
  CLI::App app{"Load for a HandlerSocket server, and for those that it is compared with."};
  Texts texts;
  declare(app, options, texts);
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? Parsed::end : Parsed::wrong;
  }
  const Work& work = works().at(options.work);
  if (options.work != "mix") options.mix = work.mix;
  options.reconnect = options.work == "connect";
  options.protocol = protocols.at(texts.protocol);
  options.keys.distribution = work.distribution.value_or(Distribution::uniform);
  if (!texts.distribution.empty()) {
    options.keys.distribution = distributions.at(texts.distribution);
  }
  if (!texts.beside.empty() && app.count("--rate") == 0) options.rate = light_rate;
  if (texts.tls) options.tls = texts.tls_unchecked ? Tls::unchecked : Tls::checked;
  if (options.protocol == Protocol::mysqlx && options.user.empty()) options.user = "root";
  options.warm_up = std::chrono::duration<double>(texts.warm_up);
  options.duration = std::chrono::duration<double>(texts.duration);
  if (!parse_templates(texts.update_values, options.update_values) ||
      !parse_templates(texts.insert_values, options.insert_values) ||
      !parse_templates(texts.stored_key, options.stored_key) ||
      !parse_templates(texts.stored_value, options.stored_value) ||
      !parse_templates(texts.check, options.check) || !parse_greed(texts.beside, options.beside) ||
      !read_password(texts.password_file, options.password)) {
    return Parsed::wrong;
  }
  if (const std::string wrong = contradiction(options); !wrong.empty()) {
    std::cerr << "error: " << wrong << "\n";
    return Parsed::wrong;
  }
  return Parsed::run;
}

}  // namespace hs::bench
