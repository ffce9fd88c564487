#include "mysqld/server/user_statistics.h"

#include <algorithm>
#include <string>

#include "mysqld/server/api.h"
#include "mysqld/server/mariadb/logged_in.h"

namespace hs::mysqld::server {
namespace {

// How far the THD's own numbers have come.
struct Reading {
  explicit Reading(THD* thd)
      : status(thd->status_var), busy_us(microsecond_interval_timer()), cpu(my_getcputime()) {}

  system_status_var status;
  ulonglong busy_us;
  ulonglong cpu;  // in 100 ns
};

// The entry of a user or a client in one of the server's tables; made if there is none, as after
// FLUSH USER_STATISTICS. Null if there is no memory. The tables are locked.
USER_STATS* entry(HASH& all, std::string_view name, std::string_view user) {
  name = name.substr(0, sizeof USER_STATS::user - 1);
  user = user.substr(0, sizeof USER_STATS::priv_user - 1);
  const auto* const key = reinterpret_cast<const unsigned char*>(name.data());
  if (void* const known = my_hash_search(&all, key, name.size()))
    return static_cast<USER_STATS*>(known);
  void* const memory = my_malloc(PSI_NOT_INSTRUMENTED, sizeof(USER_STATS), MYF(MY_ZEROFILL));
  if (memory == nullptr) return nullptr;
  auto* const made = static_cast<USER_STATS*>(memory);
  std::copy(name.begin(), name.end(), made->user);
  std::copy(user.begin(), user.end(), made->priv_user);
  made->user_name_length = static_cast<unsigned>(name.size());
  if (my_hash_insert(&all, reinterpret_cast<unsigned char*>(made)) == 0) return made;
  my_free(made);
  return nullptr;
}

}  // namespace

struct UserStatistics::Counts {
  explicit Counts(THD* counted) : thd(counted), before(counted) {}

  // Adds what the THD has done since `before`.
  void tell() {
    if (account == 0) return;
    // Each open table still keeps the rows that were read from it.
    for (TABLE* table = thd->open_tables; table != nullptr; table = table->next)
      table->file->update_global_table_stats();
    const Reading now(thd);
    mysql_mutex_lock(&LOCK_global_user_client_stats);
    if (USER_STATS* const of_user = entry(global_user_stats, user, user)) add(now, *of_user);
    if (USER_STATS* const of_client = entry(global_client_stats, client, user))
      add(now, *of_client);
    mysql_mutex_unlock(&LOCK_global_user_client_stats);
    before = now;
    finds = writes = 0;
  }

  void add(const Reading& now, USER_STATS& to) const {
    const auto moved = [&](auto system_status_var::*member) {
      return now.status.*member - before.status.*member;
    };
    to.busy_time += static_cast<double>(now.busy_us - before.busy_us);
    to.cpu_time += static_cast<double>(now.cpu - before.cpu) / 10;
    to.binlog_bytes_written += moved(&system_status_var::binlog_bytes_written);
    to.rows_read += moved(&system_status_var::rows_read);
    to.rows_sent += moved(&system_status_var::rows_sent);
    to.rows_inserted += moved(&system_status_var::ha_write_count);
    to.rows_deleted += moved(&system_status_var::ha_delete_count);
    to.rows_updated += moved(&system_status_var::ha_update_count);
    to.commit_trans += moved(&system_status_var::ha_commit_count);
    to.rollback_trans += moved(&system_status_var::ha_rollback_count) +
                         moved(&system_status_var::ha_savepoint_rollback_count);
    to.select_commands += finds;
    to.update_commands += writes;
  }

  THD* const thd;
  Reading before;
  std::uint64_t account = 0;  // 0: nothing is counted
  std::string user;
  std::string client;
  std::uint64_t finds = 0;
  std::uint64_t writes = 0;
};

UserStatistics::UserStatistics(THD* thd) : counts_(std::make_unique<Counts>(thd)) {}
UserStatistics::~UserStatistics() = default;

// A pass that was given up has not ended here.
void UserStatistics::begin_pass() {
  if (is_on_) end_pass();
  is_on_ = counts_->thd->userstat_running;
}

void UserStatistics::begin(const Request& request) {
  Counts& counts = *counts_;
  if (counts.account != request.account) {
    counts.tell();
    if (counts.account == 0) counts.before = Reading(counts.thd);
    counts.account = request.account;
    counts.user = request.user;
    counts.client = request.host;
    if (request.logged_in != nullptr) {
      const auto& who = static_cast<const LoggedInAccount&>(*request.logged_in).context();
      counts.user = who.user;
      counts.client = who.host_or_ip;
    }
  }
}

void UserStatistics::answered(bool writes) { ++(writes ? counts_->writes : counts_->finds); }

void UserStatistics::end_pass() {
  counts_->tell();
  counts_->account = 0;
}

void UserStatistics::before_reset() { counts_->tell(); }
void UserStatistics::after_reset() { counts_->before = Reading(counts_->thd); }

}  // namespace hs::mysqld::server
