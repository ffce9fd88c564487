// MariaDB's half of server/session.h.
#pragma once

namespace hs::mysqld::server {

// A read that KILL has ended.
inline constexpr int killed_error = HA_ERR_ABORTED_BY_USER;

inline std::uint32_t raised_error(const THD* thd) {
  return thd->is_error() ? thd->get_stmt_da()->sql_errno() : 0;
}

inline bool is_killed(const THD* thd) { return thd->killed != NOT_KILLED; }

inline void free_memory(THD* thd) { free_root(thd->mem_root, MYF(MY_KEEP_PREALLOC)); }

class StrictChecks {
 public:
  StrictChecks(THD* thd, Strictness strictness) : thd_(thd) {
    thd->count_cuted_fields =
        strictness == Strictness::null_is_error ? CHECK_FIELD_ERROR_FOR_NULL : CHECK_FIELD_WARN;
    thd->cuted_fields = 0;
    thd->abort_on_warning = thd->is_strict_mode();
  }
  ~StrictChecks() {
    thd_->count_cuted_fields = CHECK_FIELD_IGNORE;
    thd_->abort_on_warning = false;
  }
  StrictChecks(const StrictChecks&) = delete;
  StrictChecks& operator=(const StrictChecks&) = delete;

 private:
  THD* thd_;
};

class QuietChecks {
 public:
  explicit QuietChecks(THD* thd)
      : thd_(thd),
        count_cuted_fields_(thd->count_cuted_fields),
        abort_on_warning_(thd->abort_on_warning) {
    thd->count_cuted_fields = CHECK_FIELD_WARN;
    thd->abort_on_warning = false;
  }
  ~QuietChecks() {
    thd_->count_cuted_fields = count_cuted_fields_;
    thd_->abort_on_warning = abort_on_warning_;
    Diagnostics_area& area = *thd_->get_stmt_da();
    if (area.is_error()) thd_->clear_error();
    if (area.current_statement_warn_count() != 0) area.clear_warning_info(thd_->query_id);
  }
  QuietChecks(const QuietChecks&) = delete;
  QuietChecks& operator=(const QuietChecks&) = delete;

  bool warned() const { return thd_->get_stmt_da()->current_statement_warn_count() != 0; }

 private:
  THD* thd_;
  enum_check_fields count_cuted_fields_;
  bool abort_on_warning_;
};

}  // namespace hs::mysqld::server
