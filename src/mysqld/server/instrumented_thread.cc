#include "mysqld/server/instrumented_thread.h"

#include <pthread.h>

#include <array>
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
  static const PSI_thread_key worker = registered(thread_class("worker"));
  static const PSI_thread_key log_in = registered(thread_class("log_in"));
  return kind == InstrumentedThread::Kind::worker ? worker : log_in;
}

// MySQL also gives the thread another name in the operating system. It has one, by which tools tell
// workers, streamers and log-in threads apart.
void become(PSI_thread* thread) {
  std::array<char, 16> name{};
  ::pthread_getname_np(::pthread_self(), name.data(), name.size());
  PSI_THREAD_CALL(set_thread)(thread);
  ::pthread_setname_np(::pthread_self(), name.data());
}

}  // namespace

InstrumentedThread::InstrumentedThread(Kind kind)
    : kind_(kind), before_(PSI_THREAD_CALL(get_thread)()) {
  PSI_thread* const made = new_thread(key_of(kind));
  PSI_THREAD_CALL(set_thread_os_id)(made);
  become(made);
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
  become(before_);
}

}  // namespace hs::mysqld::server
