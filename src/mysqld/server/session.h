// The worker as a session of the server: its diagnostics, how strictly values are checked, and
// whether it was killed. All functions are inline.
//
// Called on the thread that owns the THD. Only api.h includes it.
#pragma once

#include <concepts>
#include <cstdint>
#include <string_view>
#include <type_traits>

namespace hs::mysqld::server {

// The number of the error that has been raised; 0 if there is none.
inline std::uint32_t raised_error(const THD* thd);
// The SQLSTATE of the error that has been raised; there must be one.
inline const char* raised_state(const THD* thd);

// The message of the error that has been raised; there must be one.
inline const char* raised_text(const THD* thd);

// What follows is about the row of this number in its statement. Some messages name it.
inline void number_row(THD* thd, std::uint64_t number);

// The engine's error when KILL has ended a read.
constexpr int killed_error();
// The engine's error when it reads a row for a change, another session has locked the row, and the
// engine does not wait for it.
constexpr int row_locked_error();
// And the error that the server raises for it.
constexpr std::uint32_t row_locked_number();
// The shortest time for which InnoDB can be told to wait for a row. 0: it does not wait.
constexpr std::uint32_t shortest_row_wait_s();

// Whether an error says that there was no memory for something.
constexpr bool is_lack_of_memory(std::uint32_t error) {
  return error == EE_OUTOFMEMORY || error == ER_OUTOFMEMORY || error == ER_OUT_OF_RESOURCES;
}

// Whether the error that has been raised, which has a number of the server's own, was raised by a
// trigger's SIGNAL. A SIGNAL may give any number, but its SQLSTATE is another than the server's.
inline bool is_signalled(const THD* thd) {
  const std::string_view own = raised_error(thd) == ER_LOCK_DEADLOCK ? "40001" : "HY000";
  return raised_state(thd) != own;
}

inline bool is_killed(const THD* thd);

// Whether an upsert that leaves the row that is there as it is counts as a change of a table without
// transactions, after which STRICT_TRANS_TABLES is not strict any more.
constexpr bool notes_rows_left_alone();

// Whether read_only and the like forbid writes, and offline_mode forbids everything. Some accounts
// are exempt, as far as the state allows that (AccountContext::is_exempt).
inline bool forbids_writes(bool is_exempt);
inline bool is_offline();

// A kind of thread as the performance schema knows it, and the calling thread as one of a kind. Null
// if the performance schema is off.
inline PSI_thread_info thread_class(const char* name);
inline PSI_thread* new_thread(PSI_thread_key kind);

// Adds the rows of an answer to the server's own counter, if it has one.
inline void count_sent_rows(THD* thd, std::uint64_t rows);

// Keeps what SHOW PROCESSLIST says that the thread does, while the server does something for it.
// Otherwise a state of the server's own would stay, for example MySQL's when a statement has ended.
class KeptState {
 public:
  explicit inline KeptState(THD* thd);
  inline ~KeptState();
  KeptState(const KeptState&) = delete;
  KeptState& operator=(const KeptState&) = delete;

 private:
  THD* thd_;
  const char* state_;
};

// Removes the warnings that statements have left. Most clients do not read them, and each takes memory.
inline void forget_warnings(THD* thd);
// From now on the warnings are of one write. Those that come count their rows from the next
// number_row() on.
inline void begin_warnings(THD* thd);
// Calls take(is_note, number, text) for each of them, in their order. It returns whether it takes more.
template <class Take>
inline void visit_warnings(const THD* thd, Take take);

// Gives back the memory of statements, and the expressions that are in it. Opening a table may have
// made expressions. If they were freed later, their memory would be gone already.
inline void free_memory(THD* thd);

// Which assignments of a write are errors.
enum class Strictness : std::uint8_t {
  // an INSERT of one row: NULL in a NOT NULL column is an error, whatever sql_mode says
  null_is_error,
  null_is_warning,  // an UPDATE, or an INSERT of several rows: it is an error in strict mode only
  ignores,          // INSERT IGNORE: few mistakes are errors
};

// Each family defines three classes. An object of theirs changes how the THD checks values for as
// long as it exists.
class StrictChecks;
class StrictAssignment;  // within StrictChecks, of one value
class QuietChecks;

template <class Checks>
concept StaysInPlace = !std::is_copy_constructible_v<Checks> && !std::is_copy_assignable_v<Checks>;

// A failed assignment raises what INSERT or UPDATE would raise.
template <class Checks>
concept ChecksAsSql = StaysInPlace<Checks> && std::constructible_from<Checks, THD*, Strictness>;

// A failed assignment raises what it would raise in strict mode, whatever sql_mode says.
template <class Checks>
concept ChecksAsStrictSql = StaysInPlace<Checks> && std::constructible_from<Checks, THD*>;

// The return value of a store says what had to be changed, and no error or warning is left.
// warned() says whether there was a warning since the object was made, even if the diagnostics area
// keeps none. lacked_memory() says whether memory was missing.
template <class Checks>
concept ChecksQuietly = StaysInPlace<Checks> && std::constructible_from<Checks, THD*> &&
    requires(const Checks checks) {
  { checks.warned() } -> std::same_as<bool>;
  { checks.lacked_memory() } -> std::same_as<bool>;
};

}  // namespace hs::mysqld::server

#include "family_session.h"

static_assert(hs::mysqld::server::ChecksAsSql<hs::mysqld::server::StrictChecks>);
static_assert(hs::mysqld::server::ChecksAsStrictSql<hs::mysqld::server::StrictAssignment>);
static_assert(hs::mysqld::server::ChecksQuietly<hs::mysqld::server::QuietChecks>);
