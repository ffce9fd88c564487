// A worker's THD: how HostThread makes, shows, kills and ends it in the server.
//
// Called on the worker's own thread, except kill() and kill_statement().
#pragma once

#include "mysqld/server/types.h"

// They are hidden, so that the linker refuses a family that leaves one of them undefined.
#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

bool is_shutting_down();
// Waits a moment for the server to start. Returns whether it has started.
bool await_start();

// A THD for the calling thread. SHOW PROCESSLIST, KILL and shutdown see it. Its rights are not
// checked.
THD* make_worker_thd();
void destroy_worker_thd(THD* thd);

// Whether the calling thread is one of those that have such a THD: a statement of a trigger runs on
// it.
bool is_own_thread();

// Whether the session has something that no statement of ours makes, and that would stay: a user
// variable, a lock by GET_LOCK(), a temporary table, an open HANDLER, a time or a number that SET has
// chosen for the next statements.
bool has_session_objects(THD* thd);
// Does what the command COM_RESET_CONNECTION does. No transaction is active, and no table is open.
// What was set up in the session's variables has to be set up again; the THD's user stays.
void reset_session(THD* thd);

// Makes finds on the write port read without locks. With SERIALIZABLE they would lock rows.
void read_repeatably(THD* thd);
// Does what SET SESSION does, for a variable of a storage engine.
void set_session_variable(THD* thd, const char* name, long long value);

// Counts what the THD does as the server's settings want it at the moment. Between statements.
void follow_statistics(THD* thd);

// Shows the THD as idle or as working, and what it does. `state` must be a string literal. The time
// that is shown with it begins when the THD becomes idle, and when it stops being idle.
void show(THD* thd, bool works, const char* state);

// Whether the whole server wants the thread to leave.
bool must_leave(const THD* thd);
void kill(THD* thd);
// Ends what the THD waits for, as KILL QUERY does.
void kill_statement(THD* thd);
void forget_kill(THD* thd);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
