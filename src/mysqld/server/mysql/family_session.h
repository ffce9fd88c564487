// MySQL's half of server/session.h.
#pragma once

#include <optional>

namespace hs::mysqld::server {

// A read that KILL has ended.
inline constexpr int killed_error = HA_ERR_QUERY_INTERRUPTED;

inline std::uint32_t raised_error(const THD* thd) {
  const std::uint32_t number = thd->is_error() ? thd->get_stmt_da()->mysql_errno() : 0;
  // So the server tells a killed connection. A worker's goes on.
  return number == ER_SERVER_SHUTDOWN ? ER_QUERY_INTERRUPTED : number;
}

inline bool is_killed(const THD* thd) { return thd->killed != THD::NOT_KILLED; }

inline void free_memory(THD* thd) { thd->mem_root->ClearForReuse(); }

class StrictChecks {
 public:
  StrictChecks(THD* thd, Strictness strictness) : thd_(thd) {
    thd->check_for_truncated_fields =
        strictness == Strictness::null_is_error ? CHECK_FIELD_ERROR_FOR_NULL : CHECK_FIELD_WARN;
    thd->num_truncated_fields = 0;
    // This is what makes errors of warnings in strict mode.
    if (thd->is_strict_mode()) thd->push_internal_handler(&strict_.emplace());
  }
  ~StrictChecks() {
    if (strict_) thd_->pop_internal_handler();
    thd_->check_for_truncated_fields = CHECK_FIELD_IGNORE;
  }
  StrictChecks(const StrictChecks&) = delete;
  StrictChecks& operator=(const StrictChecks&) = delete;

 private:
  THD* thd_;
  std::optional<Strict_error_handler> strict_;
};

class QuietChecks {
 public:
  explicit QuietChecks(THD* thd) : thd_(thd), check_(thd->check_for_truncated_fields) {
    thd->check_for_truncated_fields = CHECK_FIELD_WARN;
  }
  ~QuietChecks() {
    thd_->check_for_truncated_fields = check_;
    Diagnostics_area& area = *thd_->get_stmt_da();
    if (area.is_error()) thd_->clear_error();
    if (area.current_statement_cond_count() != 0) {
      area.reset_condition_info(thd_);
      area.reset_statement_cond_count();
    }
  }
  QuietChecks(const QuietChecks&) = delete;
  QuietChecks& operator=(const QuietChecks&) = delete;

  bool warned() const { return thd_->get_stmt_da()->current_statement_cond_count() != 0; }

 private:
  THD* thd_;
  enum_check_fields check_;
};

}  // namespace hs::mysqld::server
