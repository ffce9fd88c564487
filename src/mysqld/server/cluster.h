// The server as a node of a cluster whose nodes certify each transaction: Galera, or MySQL's Group
// Replication, to which the engines and the binary log tell nearly everything by themselves. And as
// the primary of semi-synchronous replicas.
//
// What an SQL session tells the cluster around each of its statements, a worker that writes tells it
// around each of its transactions. Without that the cluster would not know the writes, and they
// would stay on this node. The functions own nothing, and do nothing if the server is no such node.
// Called on the thread that owns the THD.
#pragma once

#include <cstdint>

#include "base/status.h"
#include "mysqld/server/types.h"

#pragma GCC visibility push(hidden)

namespace hs::mysqld::server {

// Before a transaction begins, and after its end, when its tables and metadata locks are given
// back. `status` is how it has ended. The cluster may say something else: it may have ended the
// transaction, or executed it once more behind others and committed it.
void enter_cluster(THD* thd);
Status leave_cluster(THD* thd, Status status);
// Before the THD is destroyed.
void forget_cluster(THD* thd);

// Another node's transaction, which is committed, needs a row of the present one. So the present one
// can only be rolled back. The statement is killed, too.
bool is_pushed_aside(const THD* thd);
// Whether the cluster, or a KILL during a commit, has left a mark that the next transaction must not
// find.
bool has_old_kill(const THD* thd);
// Whether a commit has failed because another transaction has changed the same rows.
bool is_conflict(Status commit);

// Whether a KILL during a commit may have ended its wait for a replica. Then the transaction is
// committed here, and perhaps nowhere else.
bool may_lack_replica(const THD* thd);

// The error with which a request has to end because the node does not belong to the majority, or is
// not ready; 0 if there is none. If a setting asks for it, the first one waits until the node has
// applied what the others have committed before.
std::uint32_t cluster_refuses_reads();
std::uint32_t cluster_refuses_writes(THD* thd);
// The error for a write to a table whose changes the cluster does not replicate; otherwise 0. `alone`:
// every table that is open belongs to this write.
std::uint32_t cluster_refuses_table(const THD* thd, const TABLE& table, bool alone);

}  // namespace hs::mysqld::server

#pragma GCC visibility pop
