// A worker's THD: what HostThread asks of the server to make, show, kill and end it.
//
// On the worker's own thread, but for kill().
#pragma once

#include "mysqld/server/types.h"

namespace hs::mysqld::server {

bool is_shutting_down();
// Waits a moment for the server to have started; whether it has.
bool await_start();

// A THD for the calling thread, seen by SHOW PROCESSLIST, KILL and shutdown, with no rights to be checked.
THD* make_worker_thd();
void destroy_worker_thd(THD* thd);

// How finds on the write port read: SERIALIZABLE would make them lock.
void read_repeatably(THD* thd);
// What SET SESSION does, for a variable of a storage engine.
void set_session_variable(THD* thd, const char* name, long long value);

// Shows the THD as idle, or as working, and what it does: a string literal.
void show(THD* thd, bool works, const char* state);

// The server as a whole wants the thread to go.
bool must_leave(const THD* thd);
void kill(THD* thd);
void forget_kill(THD* thd);

}  // namespace hs::mysqld::server
