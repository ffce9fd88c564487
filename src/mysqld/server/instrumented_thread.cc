#include "mysqld/server/instrumented_thread.h"

#include <string_view>

#include "mysqld/server/api.h"

namespace hs::mysqld::server {
namespace {

constexpr std::string_view user = "handlersocket";

PSI_thread_key registered(PSI_thread_info thread) {
  PSI_thread_key key = 0;
  thread.m_key = &key;
  mysql_thread_register(user.data(), &thread, 1);
  return key;
}

PSI_thread_key key_of(InstrumentedThread::Kind kind) {
  static const PSI_thread_key worker = registered(thread_class("worker", "hs_worker"));
  static const PSI_thread_key log_in = registered(thread_class("log_in", "hs_log_in"));
  return kind == InstrumentedThread::Kind::worker ? worker : log_in;
}

}  // namespace

InstrumentedThread::InstrumentedThread(Kind kind)
    : kind_(kind), before_(PSI_THREAD_CALL(get_thread)()) {
  PSI_thread* const made = new_thread(key_of(kind));
  PSI_THREAD_CALL(set_thread_os_id)(made);
  PSI_THREAD_CALL(set_thread)(made);
}

void InstrumentedThread::take(THD* thd) {
  PSI_thread* const mine = PSI_THREAD_CALL(get_thread)();
  PSI_THREAD_CALL(set_thread_id)(mine, thd_get_thread_id(thd));
  thd->set_psi(mine);
  // A log-in gets the account of its client by the server's own code.
  if (kind_ == Kind::worker)
    PSI_THREAD_CALL(set_thread_account)(user.data(), static_cast<int>(user.size()), "", 0);
}

InstrumentedThread::~InstrumentedThread() {
  PSI_THREAD_CALL(delete_current_thread)();
  PSI_THREAD_CALL(set_thread)(before_);
}

}  // namespace hs::mysqld::server
