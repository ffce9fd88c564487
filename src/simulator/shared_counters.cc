#include "simulator/shared_counters.h"

#include "simulator/faults.h"
#include "simulator/faulty_rows.h"

namespace hs::simulator {
namespace {

std::string named(std::size_t number) { return "the counter " + SharedCounters::key(number); }

}  // namespace

void SharedCounters::acknowledged(std::size_t number, std::optional<std::uint64_t> sum) {
  Counter& counter = of_[number];
  ++counter.acknowledged;
  if (!sum) return;
  require(*sum != 0 && *sum <= counter.asked, named(number) + " is " + std::to_string(*sum) +
                                                  ", and " + std::to_string(counter.asked) +
                                                  " additions were asked for");
  require(counter.sums.insert(*sum).second,
          "two additions to " + named(number) + " were answered " + std::to_string(*sum));
}

void SharedCounters::seen(std::size_t number, std::uint64_t sum) const {
  require(sum <= of_[number].asked, named(number) + " is read as " + std::to_string(sum) +
                                        ", and " + std::to_string(of_[number].asked) +
                                        " additions were asked for");
}

void SharedCounters::check(const Tables& tables) const {
  for (std::size_t number = 0; number < count; ++number) {
    const Counter& counter = of_[number];
    const Record* const record = tables.at(number < strings ? "kv" : "h").committed(key(number));
    require(record != nullptr && (*record)[1].has_value(), named(number) + " is gone");
    const std::uint64_t stored = number_of(*(*record)[1]);
    require(counter.acknowledged <= stored && stored <= counter.asked - counter.refused,
            named(number) + " is " + std::to_string(stored) + ": " +
                std::to_string(counter.acknowledged) + " additions were acknowledged, " +
                std::to_string(counter.asked) + " asked for, " + std::to_string(counter.refused) +
                " failed");
  }
}

void SeenCounters::acknowledged(std::size_t number, std::uint64_t sum) {
  require(sum > last_[number], named(number) + " was " + std::to_string(last_[number]) +
                                   ", and with one more it is " + std::to_string(sum));
  last_[number] = sum;
  shared_.acknowledged(number, sum);
}

void SeenCounters::read(std::size_t number, std::uint64_t sum) {
  require(sum >= last_[number], named(number) + " was " + std::to_string(last_[number]) +
                                    ", and is read as " + std::to_string(sum));
  last_[number] = sum;
  shared_.seen(number, sum);
}

}  // namespace hs::simulator
