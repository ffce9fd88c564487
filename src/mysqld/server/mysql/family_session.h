// MySQL's half of server/session.h.
#pragma once

#include <optional>

namespace hs::mysqld::server {

constexpr int killed_error() { return HA_ERR_QUERY_INTERRUPTED; }
constexpr int row_locked_error() { return HA_ERR_NO_WAIT_LOCK; }
constexpr std::uint32_t row_locked_number() { return ER_LOCK_NOWAIT; }
constexpr std::uint32_t shortest_row_wait_s() { return 1; }
constexpr bool notes_rows_left_alone() { return true; }

inline std::uint32_t raised_error(const THD* thd) {
  const std::uint32_t number = thd->is_error() ? thd->get_stmt_da()->mysql_errno() : 0;
  // The server tells a killed connection that it shuts down. A worker's connection goes on.
  return number == ER_SERVER_SHUTDOWN ? ER_QUERY_INTERRUPTED : number;
}

inline const char* raised_state(const THD* thd) { return thd->get_stmt_da()->returned_sqlstate(); }

inline const char* raised_text(const THD* thd) { return thd->get_stmt_da()->message_text(); }

inline void number_row(THD* thd, std::uint64_t number) {
  thd->get_stmt_da()->set_current_row_for_condition(number);
}

inline bool forbids_writes(bool is_exempt) {
  return opt_readonly && (opt_super_readonly || !is_exempt);
}
inline bool is_offline() { return mysqld_offline_mode(); }

inline bool is_killed(const THD* thd) { return thd->killed != THD::NOT_KILLED; }

inline PSI_thread_info thread_class(const char* name) {
  return {nullptr, name, name, PSI_FLAG_USER, 0, "A thread of handlersocket"};
}
inline PSI_thread* new_thread(PSI_thread_key kind) {
  return PSI_THREAD_CALL(new_thread)(kind, 0, nullptr, 0);
}

inline void count_sent_rows(THD* /*thd*/, std::uint64_t /*rows*/) {}

inline KeptState::KeptState(THD* thd) : thd_(thd), state_(thd->proc_info()) {}

inline KeptState::~KeptState() { thd_->set_proc_info(state_); }

inline void forget_warnings(THD* thd) {
  Diagnostics_area& area = *thd->get_stmt_da();
  if (area.cond_count() == 0) return;
  area.reset_condition_info(thd);
  area.reset_statement_cond_count();
}

inline void begin_warnings(THD* thd) {
  thd->get_stmt_da()->reset_condition_info(thd);
  thd->get_stmt_da()->reset_statement_cond_count();
}

template <class Take>
inline void visit_warnings(const THD* thd, Take take) {
  Diagnostics_area::Sql_condition_iterator conditions = thd->get_stmt_da()->sql_conditions();
  while (const Sql_condition* const condition = conditions++) {
    const Sql_condition::enum_severity_level level = condition->severity();
    if (level == Sql_condition::SL_ERROR) continue;
    const std::string_view text(condition->message_text(), condition->message_octet_length());
    if (!take(level == Sql_condition::SL_NOTE, condition->mysql_errno(), text)) return;
  }
}

inline void free_memory(THD* thd) {
  thd->free_items();
  thd->mem_root->ClearForReuse();
}

class StrictChecks {
 public:
  StrictChecks(THD* thd, Strictness strictness) : thd_(thd) {
    thd->check_for_truncated_fields =
        strictness == Strictness::null_is_error ? CHECK_FIELD_ERROR_FOR_NULL : CHECK_FIELD_WARN;
    thd->num_truncated_fields = 0;
    // One turns errors into warnings, the other warnings into errors in strict mode.
    if (strictness == Strictness::ignores) {
      thd->lex->set_ignore(true);
      thd->push_internal_handler(&ignoring_.emplace());
    } else if (thd->is_strict_mode()) {
      thd->push_internal_handler(&strict_.emplace());
    }
  }
  ~StrictChecks() {
    if (strict_ || ignoring_) thd_->pop_internal_handler();
    thd_->lex->set_ignore(false);
    thd_->check_for_truncated_fields = CHECK_FIELD_IGNORE;
  }
  StrictChecks(const StrictChecks&) = delete;
  StrictChecks& operator=(const StrictChecks&) = delete;

 private:
  THD* thd_;
  std::optional<Strict_error_handler> strict_;
  std::optional<Ignore_error_handler> ignoring_;
};

class StrictAssignment {
 public:
  explicit StrictAssignment(THD* thd) : thd_(thd), sql_mode_(thd->variables.sql_mode) {
    thd->variables.sql_mode |= MODE_STRICT_ALL_TABLES;
    thd->push_internal_handler(&strict_);
  }
  ~StrictAssignment() {
    thd_->pop_internal_handler();
    thd_->variables.sql_mode = sql_mode_;
  }
  StrictAssignment(const StrictAssignment&) = delete;
  StrictAssignment& operator=(const StrictAssignment&) = delete;

 private:
  THD* thd_;
  sql_mode_t sql_mode_;
  Strict_error_handler strict_;
};

class QuietChecks final : public Internal_error_handler {
 public:
  explicit QuietChecks(THD* thd)
      : thd_(thd), check_(thd->check_for_truncated_fields), sql_mode_(thd->variables.sql_mode) {
    // A comparison accepts zero dates, which an assignment may refuse.
    thd->variables.sql_mode &= ~(MODE_NO_ZERO_DATE | MODE_NO_ZERO_IN_DATE);
    thd->check_for_truncated_fields = CHECK_FIELD_WARN;
    thd->push_internal_handler(this);
  }
  ~QuietChecks() override {
    thd_->pop_internal_handler();
    thd_->variables.sql_mode = sql_mode_;
    thd_->check_for_truncated_fields = check_;
  }
  QuietChecks(const QuietChecks&) = delete;
  QuietChecks& operator=(const QuietChecks&) = delete;

  bool warned() const { return warned_; }
  bool lacked_memory() const { return lacked_memory_; }

 private:
  bool handle_condition(THD* /*thd*/, uint number, const char* /*state*/,
                        Sql_condition::enum_severity_level* /*level*/,
                        const char* /*message*/) override {
    warned_ = true;
    lacked_memory_ |= is_lack_of_memory(number);
    return true;
  }

  THD* thd_;
  enum_check_fields check_;
  sql_mode_t sql_mode_;
  bool warned_ = false;
  bool lacked_memory_ = false;
};

}  // namespace hs::mysqld::server
