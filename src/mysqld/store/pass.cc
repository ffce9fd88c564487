#include "mysqld/store/pass.h"

#include <cassert>
#include <utility>

#include "mysqld/accounts/account.h"
#include "mysqld/server/api.h"
#include "mysqld/server/cluster.h"
#include "mysqld/server/errors.h"

namespace hs::mysqld {

using store::Outcome;
using store::PassMode;
using store::Verdict;

Pass::Pass(HostThread& host, OpenTables& tables, const PassConfig& config, CounterBlock& counters)
    : host_(host),
      tables_(tables),
      config_(config),
      transaction_(host, tables, counters),
      statistics_(host.thd()),
      traces_(host.thd()) {}

void Pass::begin(PassMode mode) {
  assert(stage_ == Stage::idle);
  mode_ = mode;
  if (std::exchange(waits_to_the_end_, false)) [[unlikely]]
    host_.wait_for_rows(false);
}

void Pass::begin_in_server() {
  stage_ = Stage::working;
  if (host_.killed()) host_.forgive();
  host_.refresh_variables();
  statistics_.begin_pass();
  host_.show_state(what_it_does());
  refusal_ = server::cluster_refuses_reads();
  begin_transaction();
}

const char* Pass::what_it_does() const {
  if (config_.asks_other_servers) return "handlersocket: asking other servers";
  if (mode_ == PassMode::aside) return "handlersocket: writing aside";
  if (config_.streams) return "handlersocket: streaming";
  return config_.writes ? "handlersocket: writing" : "handlersocket: reading";
}

// On the write port every request runs in a transaction, even a find. A write that was committed
// alone has ended the transaction of the pass, so the next request begins another.
void Pass::begin_transaction() {
  if (config_.writes && !transaction_.active()) [[unlikely]]
    transaction_.begin();
}

// A unit finds what its own triggers have left in the session: it acts for one client.
Outcome Pass::may_go_on() const {
  if (in_unit_) return unit_lost_;
  return traces_.any() ? Outcome{Verdict::not_yet} : Outcome{};
}

Outcome Pass::begin_read() {
  if (traces_.any() || in_unit_) [[unlikely]] {
    if (const Outcome may = may_go_on(); !may.ok()) return may;
  }
  begin_work();
  if (refusal_ != 0) [[unlikely]]
    return server::status_of(refusal_);
  if (shared_ != nullptr && !end_shared_statement().ok()) [[unlikely]]
    return Verdict::broken;
  begin_transaction();
  return {};
}

void Pass::begin_counting(const store::Caller& caller) {
  if (caller.may_do_everything()) return;
  const auto& account = static_cast<const Account&>(caller);
  statistics_.begin({account.number(), account.logged_in(), account.user(), account.host()});
}

Outcome Pass::end() {
  assert(!in_unit_);
  const Outcome outcome = commit();
  if (statistics_.is_on()) [[unlikely]]
    statistics_.end_pass();
  if (traces_.any() && !transaction_.active()) [[unlikely]]
    forget_traces();
  return outcome;
}

Outcome Pass::commit() {
  if (stage_ != Stage::working) return {};
  if (!end_shared_statement().ok()) return Verdict::broken;
  if (!transaction_.active()) {
    stage_ = Stage::reading;
    return {};
  }
  const Status committed = transaction_.commit();
  stage_ = Stage::idle;
  const bool wrote = std::exchange(writes_wait_, false);
  if (!server::is_conflict(committed)) [[likely]]
    return committed;
  // Nothing was written, or each write gets another chance alone.
  if (!wrote) return {};
  return mode_ == PassMode::together ? Outcome{Verdict::broken} : Outcome{committed};
}

void Pass::release() {
  if (stage_ != Stage::reading) return;
  stage_ = Stage::idle;
  transaction_.end_reading();
}

// Also ends what is left of a pass after something has thrown.
void Pass::abandon() {
  stage_ = Stage::idle;
  writes_wait_ = false;
  in_unit_ = false;
  shared_ = nullptr;
  if (transaction_.active()) {
    transaction_.roll_back();
  } else {
    // If a request had no memory, it may have raised an error.
    host_.thd()->reset_for_next_command();
    transaction_.end_reading();
  }
  if (traces_.any()) forget_traces();
}

// The transaction has ended.
void Pass::forget_traces() {
  if (statistics_.is_on()) statistics_.before_reset();
  host_.reset_session();
  if (statistics_.is_on()) statistics_.after_reset();
  traces_.forget();
}

}  // namespace hs::mysqld
