// The counters that a Redis client shares with all others.
#include <utility>

#include "simulator/faulty_rows.h"
#include "simulator/redis_script.h"

namespace hs::simulator {

void RedisScript::ask_shared() {
  const std::size_t number = world_.below(SharedCounters::count);
  const bool is_row = number >= SharedCounters::strings;
  const std::string key = (is_row ? "db.h:" : "") + SharedCounters::key(number);
  if (world_.chance(30)) {
    const auto check = [this, number](std::string_view reply) {
      require(reply.size() > 4 && reply[0] == '$', "GET was answered " + std::string(reply));
      counters().read(number, number_of(reply.substr(reply.find('\n') + 1)));
    };
    if (is_row) return ask_words({"HGET", key, "v"}, {.on_reply = check});
    return ask_words({"GET", key}, {.on_reply = check});
  }
  counters().shared().asked(number);
  const auto check = [this, number](std::string_view reply) {
    require(reply[0] == ':', "an addition was answered " + std::string(reply));
    counters().acknowledged(number, number_of(reply.substr(1)));
  };
  const auto refuse = [this, number] { counters().shared().refused(number); };
  if (is_row)
    return ask_words({"HINCRBY", key, "v", "1"}, {.on_reply = check, .on_refusal = refuse});
  ask_words({"INCR", key}, {.on_reply = check, .on_refusal = refuse});
}

// The first part of an addition that is done only if nobody else has added meanwhile.
void RedisScript::ask_to_watch() {
  const std::size_t number = world_.below(SharedCounters::strings);
  const std::string key = SharedCounters::key(number);
  watched_ = number;
  watched_sum_.reset();
  watch_failed_ = false;
  ask_words({"WATCH", key}, {.on_reply =
                                 [](std::string_view reply) {
                                   require(reply == ok, "WATCH was answered " + std::string(reply));
                                 },
                             .on_refusal = [this] { watch_failed_ = true; }});
  ask_words({"GET", key}, {.on_reply = [this, number](std::string_view reply) {
              watched_sum_ = number_of(reply.substr(reply.find('\n') + 1));
              counters().read(number, *watched_sum_);
            }});
}

// The second part.
void RedisScript::ask_watched() {
  const std::size_t number = *watched_;
  watched_.reset();
  if (!watched_sum_ || watch_failed_) return ask_plain({"UNWATCH"}, ok);
  const std::uint64_t sum = *watched_sum_ + 1;
  ask_plain({"MULTI"}, ok);
  ask_plain({"SET", SharedCounters::key(number), std::to_string(sum)}, queued);
  counters().shared().asked(number);
  ask_words({"EXEC"}, {.on_reply =
                           [this, number, sum, form = form_](std::string_view reply) {
                             if (reply == form.null_array())
                               return counters().shared().refused(number);
                             require(reply == "*1\r\n+OK\r\n",
                                     "EXEC was answered " + std::string(reply));
                             counters().acknowledged(number, sum);
                           },
                       .on_refusal = [this, number] { counters().shared().refused(number); }});
}

}  // namespace hs::simulator
