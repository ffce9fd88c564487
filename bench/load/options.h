// Options: everything that the command line says, checked.
//
// It is set once at the start, and then read by every thread.
#pragma once

#include <chrono>
#include <cstdint>
#include <string>
#include <vector>

#include "load/greed.h"
#include "load/key_chooser.h"
#include "load/value_template.h"
#include "load/wire.h"

namespace hs::bench {

enum class Protocol : std::uint8_t {
  handlersocket,
  memcached,
  memcached_meta,
  redis,
  redis_hash,
  mysqlx,
};

enum class Tls : std::uint8_t {
  off,
  checked,    // the server's certificate has to be a trusted one, of its host
  unchecked,  // it may be any
};

// The shares of the operations, in percent.
struct Mix {
  std::uint32_t find = 100;
  std::uint32_t update = 0;
  std::uint32_t insert = 0;
  std::uint32_t read_modify_write = 0;
  std::uint32_t upsert = 0;

  constexpr std::uint32_t sum() const {
    return find + update + insert + read_modify_write + upsert;
  }
  // The operation of a number below 100.
  constexpr Action at(std::uint32_t percent) const {
    if (percent < find) return Action::find;
    if (percent < find + update) return Action::update;
    if (percent < find + update + insert) return Action::insert;
    return percent < sum() - upsert ? Action::read_modify_write : Action::upsert;
  }
};

struct Options {
  Protocol protocol = Protocol::handlersocket;
  std::string host = "127.0.0.1";
  std::uint16_t port = 9998;
  std::string unix_socket;  // used instead of host and port
  std::string secret;
  // Who logs in. Empty: nobody does. MySQL's X protocol has to.
  std::string user;
  std::string password;
  Tls tls = Tls::off;
  std::string tls_ca;  // a file of trusted certificates; empty: the system's

  std::string database = "test";
  std::string table = "user";
  std::string index = "PRIMARY";
  // MySQL's X protocol: the column with which the key is compared.
  std::string key_column = "user_id";
  std::string columns = "user_name,user_email,created";  // Redis's hashes: * is all of them
  std::string update_columns = "user_email";
  std::vector<ValueTemplate> update_values;
  std::string insert_columns = "user_id,user_name,user_email,created";
  std::vector<ValueTemplate> insert_values;
  std::string upsert_add = "1";  // what an upsert adds to the last of these columns
  // memcached and Redis: the name of a key and the value that is stored for it.
  std::vector<ValueTemplate> stored_key;
  std::vector<ValueTemplate> stored_value;

  std::string work = "find";
  Mix mix;
  bool reconnect = false;  // for the work `connect`: connect, open, find, close, again and again
  KeyRange keys;
  std::uint32_t keys_per_find = 1;  // more than one: IN, or a get with several keys
  std::uint32_t rows_per_insert = 1;
  std::uint64_t limit = 1;           // more than one: a scan from the key up
  std::vector<ValueTemplate> check;  // what the first column of a found row must contain

  // The bystander: these kinds of greedy clients run one after the other beside a light client.
  std::vector<Greed> beside;
  // Only greedy clients ask for these.
  std::uint64_t offset = 0;
  std::string filter_column;  // empty: no filter
  std::string filter_value;
  std::uint64_t modified_rows = 1;  // rows of one update, from its key up

  // So many keys an operation has.
  std::uint32_t keys_of(Action action) const {
    if (action == Action::find) return keys_per_find;
    return action == Action::insert ? rows_per_insert : 1;
  }

  std::uint32_t connections = 16;
  std::uint32_t sources = 1;  // the loopback addresses from which they come, in turn
  std::uint32_t threads = 1;
  std::uint32_t depth = 100;
  double rate = 0;               // requests a second; 0: a closed loop
  std::uint64_t operations = 0;  // stop after so many; 0: when the time is over
  std::chrono::duration<double> warm_up{1};
  std::chrono::duration<double> duration{5};
  std::uint64_t seed = 1;
  std::uint64_t first_number = 0;  // the first value of {n}
  int server_pid = 0;              // the process whose CPU time is measured
  bool quiet = false;
  std::string json_path;  // "-" is standard output
};

enum class Parsed : std::uint8_t { run, end, wrong };

// Writes what is wrong, or the help, itself.
Parsed parse_options(int argc, char** argv, Options& options);

}  // namespace hs::bench
