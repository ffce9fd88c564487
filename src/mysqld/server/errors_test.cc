// Compiles only if each error of tests/vectors/errors.json that the server may raise has a kind, and
// one that means the same as what clients are told of it.
#include "mysqld/server/errors.h"

#include <iterator>
#include <string_view>

#include "protocol_vectors.h"

namespace hs::mysqld::server {
namespace {

// What clients call errors of a kind (clients/README.md). Errors of one kind are all called the same.
constexpr std::string_view as_clients_call_it(Error kind) {
  switch (kind) {
    case Error::duplicate_key: return "duplicate";
    case Error::missing_parent:
    case Error::has_children: return "foreign_key";
    case Error::check_failed:
    case Error::trigger_refused:
    case Error::null_not_allowed:
    case Error::out_of_range:
    case Error::wrong_value: return "value";
    case Error::row_locked:
    case Error::table_locked:
    case Error::deadlock:
    case Error::conflict: return "lock";
    case Error::denied: return "privilege";
    case Error::wrong_log_in:
    case Error::log_in_refused:
    case Error::limit_reached: return "log_in";
    case Error::read_only: return "read_only";
    case Error::not_supported: return "request";
    case Error::killed: return "interrupted";
    case Error::not_ready:
    case Error::shutting_down: return "elsewhere";
    case Error::too_large:
    case Error::no_room:
    case Error::no_memory: return "limit";
    case Error::no_table:
    case Error::table_changed:
    case Error::damaged: return "schema";
    case Error::unreachable:
    case Error::commit_failed: return "server";
    default: return "";
  }
}

constexpr bool is_mariadb = HS_IS_MARIADB;

// Errors that only the other family has.
constexpr bool is_of_other_family(std::uint32_t number) {
  switch (number) {
    case 1906:
    case 4025:
    case 4151:
    case 4165: return !is_mariadb;
    case 3098:
    case 3101:
    case 3105:
    case 3118:
    case 3164:
    case 3819: return is_mariadb;
    default: return false;
  }
}

// 0 for a word.
constexpr std::uint32_t number_in(std::string_view text) {
  std::uint32_t number = 0;
  for (const char c : text) {
    if (c < '0' || c > '9') return 0;
    number = 10 * number + static_cast<std::uint32_t>(c - '0');
  }
  return number;
}

// The first error of the vectors whose kind is not the expected one; 0 if there is none.
constexpr std::uint32_t first_of_wrong_kind() {
  for (const vectors::ErrorVector& error : vectors::errors) {
    const std::uint32_t number = number_in(error.text);
    if (number == 0) continue;
    const Error kind = status_of(number).kind();
    const bool is_right =
        is_of_other_family(number) ? kind == Error::other : as_clients_call_it(kind) == error.kind;
    if (!is_right) return number;
  }
  return 0;
}
static_assert(std::size(vectors::errors) > 60);
static_assert(first_of_wrong_kind() == 0);

// The families have two names for it.
static_assert(status_of(139).kind() == Error::too_large);

// The families give these numbers to different errors.
static_assert(status_of(183).kind() == (is_mariadb ? Error::other : Error::table_locked));
static_assert(status_of(187).kind() == (is_mariadb ? Error::other : Error::read_only));
static_assert(status_of(188).kind() == (is_mariadb ? Error::killed : Error::other));
static_assert(status_of(189).kind() == Error::no_room);
static_assert(status_of(190).kind() == (is_mariadb ? Error::other : Error::read_only));
static_assert(status_of(194).kind() == (is_mariadb ? Error::damaged : Error::no_memory));
static_assert(status_of(195).kind() == Error::damaged);
static_assert(status_of(196).kind() == (is_mariadb ? Error::out_of_range : Error::killed));
static_assert(status_of(197).kind() == (is_mariadb ? Error::commit_failed : Error::damaged));
static_assert(status_of(203).kind() == (is_mariadb ? Error::other : Error::row_locked));

// What the workers themselves look for.
static_assert(status_of(row_locked_error()).kind() == Error::row_locked);
static_assert(status_of(killed_error()).kind() == Error::killed);
static_assert(status_of(HA_ERR_TABLE_DEF_CHANGED).kind() == Error::table_changed);
static_assert(status_of(ER_TABLE_DEF_CHANGED).kind() == Error::table_changed);

// The number stays, also that of an error of which nothing is known.
static_assert(status_of(ER_DUP_ENTRY).number() == ER_DUP_ENTRY);
static_assert(status_of(65'000).kind() == Error::other && status_of(65'000).number() == 65'000);
static_assert(sizeof(Status) == sizeof(std::uint32_t));

}  // namespace
}  // namespace hs::mysqld::server
