// MariaDB's half of server/session.h.
#pragma once

namespace hs::mysqld::server {

constexpr int killed_error() { return HA_ERR_ABORTED_BY_USER; }
constexpr int row_locked_error() { return HA_ERR_LOCK_WAIT_TIMEOUT; }
constexpr std::uint32_t row_locked_number() { return ER_LOCK_WAIT_TIMEOUT; }
constexpr std::uint32_t shortest_row_wait_s() { return 0; }
constexpr bool notes_rows_left_alone() { return false; }

inline std::uint32_t raised_error(const THD* thd) {
  const std::uint32_t number = thd->is_error() ? thd->get_stmt_da()->sql_errno() : 0;
  // A worker's connection goes on after a KILL.
  return number == ER_CONNECTION_KILLED ? ER_QUERY_INTERRUPTED : number;
}

inline const char* raised_state(const THD* thd) { return thd->get_stmt_da()->get_sqlstate(); }

inline const char* raised_text(const THD* thd) { return thd->get_stmt_da()->message(); }

inline void number_row(THD* thd, std::uint64_t number) {
  thd->get_stmt_da()->set_current_row_for_warning(static_cast<long>(number));
}

inline bool forbids_writes(bool is_exempt) { return opt_readonly && !is_exempt; }
inline bool is_offline() { return false; }

inline bool is_killed(const THD* thd) { return thd->killed != NOT_KILLED; }

inline PSI_thread_info thread_class(const char* name) { return {nullptr, name, 0}; }
inline PSI_thread* new_thread(PSI_thread_key kind) {
  return PSI_THREAD_CALL(new_thread)(kind, nullptr, 0);
}

inline void count_sent_rows(THD* thd, std::uint64_t rows) {
  status_var_add(thd->status_var.rows_sent, rows);
}

inline KeptState::KeptState(THD* thd) : thd_(thd), state_(thd->proc_info) {}

inline KeptState::~KeptState() { thd_proc_info(thd_, state_); }

inline void forget_warnings(THD* thd) {
  Diagnostics_area& area = *thd->get_stmt_da();
  if (area.warn_count() != 0) area.clear_warning_info(thd->query_id);
}

// Otherwise the first warning of a statement would clear the number of the row.
inline void begin_warnings(THD* thd) { thd->get_stmt_da()->clear_warning_info(thd->query_id); }

template <class Take>
inline void visit_warnings(const THD* thd, Take take) {
  Diagnostics_area::Sql_condition_iterator conditions = thd->get_stmt_da()->sql_conditions();
  while (const Sql_condition* const condition = conditions++) {
    const Sql_condition::enum_warning_level level = condition->get_level();
    if (level == Sql_condition::WARN_LEVEL_ERROR) continue;
    const std::string_view text(condition->get_message_text(),
                                static_cast<std::size_t>(condition->get_message_octet_length()));
    if (!take(level == Sql_condition::WARN_LEVEL_NOTE, condition->get_sql_errno(), text)) return;
  }
}

inline void free_memory(THD* thd) {
  thd->free_items();
  free_root(thd->mem_root, MYF(MY_KEEP_PREALLOC));
}

class StrictChecks {
 public:
  StrictChecks(THD* thd, Strictness strictness) : thd_(thd) {
    thd->count_cuted_fields =
        strictness == Strictness::null_is_error ? CHECK_FIELD_ERROR_FOR_NULL : CHECK_FIELD_WARN;
    thd->cuted_fields = 0;
    thd->lex->ignore = strictness == Strictness::ignores;
    thd->abort_on_warning = !thd->lex->ignore && thd->is_strict_mode();
  }
  ~StrictChecks() {
    thd_->lex->ignore = false;
    thd_->count_cuted_fields = CHECK_FIELD_IGNORE;
    thd_->abort_on_warning = false;
  }
  StrictChecks(const StrictChecks&) = delete;
  StrictChecks& operator=(const StrictChecks&) = delete;

 private:
  THD* thd_;
};

class StrictAssignment {
 public:
  explicit StrictAssignment(THD* thd)
      : thd_(thd), abort_on_warning_(thd->abort_on_warning), sql_mode_(thd->variables.sql_mode) {
    thd->abort_on_warning = true;
    thd->variables.sql_mode |= MODE_STRICT_ALL_TABLES;
  }
  ~StrictAssignment() {
    thd_->abort_on_warning = abort_on_warning_;
    thd_->variables.sql_mode = sql_mode_;
  }
  StrictAssignment(const StrictAssignment&) = delete;
  StrictAssignment& operator=(const StrictAssignment&) = delete;

 private:
  THD* thd_;
  bool abort_on_warning_;
  sql_mode_t sql_mode_;
};

class QuietChecks final : public Internal_error_handler {
 public:
  explicit QuietChecks(THD* thd)
      : thd_(thd),
        count_cuted_fields_(thd->count_cuted_fields),
        abort_on_warning_(thd->abort_on_warning),
        sql_mode_(thd->variables.sql_mode) {
    // A comparison accepts dates that an assignment may refuse.
    thd->variables.sql_mode &= ~(MODE_NO_ZERO_DATE | MODE_NO_ZERO_IN_DATE);
    thd->variables.sql_mode |= MODE_INVALID_DATES;
    thd->count_cuted_fields = CHECK_FIELD_WARN;
    thd->abort_on_warning = false;
    thd->push_internal_handler(this);
  }
  ~QuietChecks() override {
    thd_->pop_internal_handler();
    thd_->variables.sql_mode = sql_mode_;
    thd_->count_cuted_fields = count_cuted_fields_;
    thd_->abort_on_warning = abort_on_warning_;
  }
  QuietChecks(const QuietChecks&) = delete;
  QuietChecks& operator=(const QuietChecks&) = delete;

  bool warned() const { return warned_; }
  // The server raises this error without asking a handler.
  bool lacked_memory() const { return is_lack_of_memory(raised_error(thd_)); }

 private:
  bool handle_condition(THD* /*thd*/, uint /*number*/, const char* /*state*/,
                        Sql_condition::enum_warning_level* /*level*/, const char* /*message*/,
                        Sql_condition** condition) override {
    *condition = nullptr;
    warned_ = true;
    return true;
  }

  THD* thd_;
  enum_check_fields count_cuted_fields_;
  bool abort_on_warning_;
  sql_mode_t sql_mode_;
  bool warned_ = false;
};

}  // namespace hs::mysqld::server
