#include "mysqld/open_tables.h"

#include <cassert>
#include <vector>

#include "mysqld/server_api.h"

namespace hs::mysqld {
namespace {

constexpr std::size_t slots_before_sweep = 1024;

bool is_write(Purpose purpose) { return purpose != Purpose::read; }

enum_sql_command sql_command(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert:
      return SQLCOM_INSERT;
    case Purpose::update:
      return SQLCOM_UPDATE;
    case Purpose::erase:
      return SQLCOM_DELETE;
    case Purpose::read:
      break;
  }
  return SQLCOM_SELECT;
}

trg_event_type trigger_event(Purpose purpose) {
  switch (purpose) {
    case Purpose::insert:
      return TRG_EVENT_INSERT;
    case Purpose::erase:
      return TRG_EVENT_DELETE;
    case Purpose::update:
    case Purpose::read:
      break;
  }
  return TRG_EVENT_UPDATE;
}

// Tables whose writes reach other tables have to be opened the way SQL opens
// them, with everything that their triggers and foreign keys need.
bool needs_other_tables(const TABLE& table) {
  return table.triggers != nullptr || table.internal_tables != nullptr ||
         table.file->referenced_by_foreign_key();
}

// Engines without transactions lock the whole table, reader against writer.
bool has_table_lock(const TABLE& table) { return table.file->lock_count() != 0; }

// Views, information_schema, performance_schema and log tables are not served.
bool is_servable(const TABLE& table) {
  return table.s->table_category == TABLE_CATEGORY_USER ||
         table.s->table_category == TABLE_CATEGORY_SYSTEM;
}

void init_request(TABLE_LIST& request, const TableSlot& slot, Purpose purpose) {
  const LEX_CSTRING database{slot.database.c_str(), slot.database.size()};
  const LEX_CSTRING name{slot.name.c_str(), slot.name.size()};
  request.init_one_table(&database, &name, nullptr, is_write(purpose) ? TL_WRITE : TL_READ);
  MDL_REQUEST_INIT(&request.mdl_request, MDL_key::TABLE, slot.database.c_str(), slot.name.c_str(),
                   is_write(purpose) ? MDL_SHARED_WRITE : MDL_SHARED_READ, MDL_TRANSACTION);
  request.i_s_requested_object = OPEN_TABLE_ONLY;
}

}  // namespace

OpenTables::OpenTables(THD* thd, CounterBlock& counters) : thd_(thd), counters_(counters) {}

OpenTables::~OpenTables() { assert(!any_open_); }

std::shared_ptr<TableSlot> OpenTables::slot(std::string_view database, std::string_view name) {
  if (slots_.size() >= slots_before_sweep) {
    std::erase_if(slots_, [](const auto& entry) { return entry.second.expired(); });
  }
  auto& known = slots_[{std::string(database), std::string(name)}];
  std::shared_ptr<TableSlot> slot = known.lock();
  if (slot == nullptr) {
    slot = std::make_shared<TableSlot>();
    slot->database = database;
    slot->name = name;
    known = slot;
  }
  return slot;
}

store::Outcome OpenTables::open_reader_slow(TableSlot& slot, OpenTable*& opened) {
  if (slot.writer.table != nullptr && has_table_lock(*slot.writer.table)) {
    opened = &slot.writer;
    return {};
  }
  if (alone_) close_tables();
  const store::Outcome outcome = open_one(slot, slot.reader, Purpose::read);
  if (outcome.answered() && outcome.status.ok()) opened = &slot.reader;
  return outcome;
}

store::Outcome OpenTables::open_writer(TableSlot& slot, Purpose purpose) {
  if (slot.writer.table != nullptr) {
    if (slot.writer.any_write || slot.writer.purpose == purpose) return {};
    close_tables();
  }
  if (alone_ || (slot.reader.table != nullptr && has_table_lock(*slot.reader.table))) close_tables();
  const store::Outcome outcome = open_one(slot, slot.writer, purpose);
  if (!outcome.answered() || !outcome.status.ok()) return outcome;
  if (needs_other_tables(*slot.writer.table)) return open_alone(slot, purpose);
  slot.writer.any_write = true;
  return {};
}

store::Outcome OpenTables::open_one(TableSlot& slot, OpenTable& opened, Purpose purpose) {
  if (opened.request == nullptr) opened.request = std::make_unique<TABLE_LIST>();
  TABLE_LIST& request = *opened.request;
  init_request(request, slot, purpose);
  thd_->lex->sql_command = sql_command(purpose);

  Open_table_context context(thd_, 0);
  if (open_table(thd_, &request, &context) || request.table == nullptr) {
    const bool repairable = context.can_recover_from_failed_open();
    // A crashed or stale table is repaired by the way that SQL opens tables.
    return repairable && !alone_ ? open_alone(slot, purpose) : failed_open();
  }
  TABLE* table = request.table;
  opened.table = table;
  opened.purpose = purpose;
  any_open_ = true;
  open_.push_back(this->slot(slot.database, slot.name));
  if (!is_servable(*table)) {
    close_tables();
    return Error::open_table;
  }
  table->query_id = thd_->query_id;
  table->reginfo.lock_type = request.lock_type;
  MYSQL_LOCK* lock = mysql_lock_tables(thd_, &table, 1, 0);
  if (lock == nullptr) {
    const store::Outcome outcome = failed_open();
    close_tables();
    return outcome;
  }
  thd_->lock = thd_->lock == nullptr ? lock : mysql_lock_merge(thd_->lock, lock, thd_);
  opened.statement_begun = true;
  if (is_write(purpose)) {
    table->file->prepare_for_row_logging();
    table->file->prepare_for_insert(true);
  }
  counters_.add(Counter::table_opens);
  return {};
}

store::Outcome OpenTables::open_alone(TableSlot& slot, Purpose purpose) {
  close_tables();
  OpenTable& opened = is_write(purpose) ? slot.writer : slot.reader;
  TABLE_LIST& request = *opened.request;
  init_request(request, slot, purpose);
  lex_start(thd_);
  thd_->lex->sql_command = sql_command(purpose);
  thd_->lex->add_to_query_tables(&request);
  if (is_write(purpose)) {
    request.trg_event_map = static_cast<uint8>(1U << static_cast<unsigned>(trigger_event(purpose)));
    // Sequences that defaults draw from are opened for inserts only.
    request.for_insert_data = purpose == Purpose::insert;
  }
  alone_ = true;
  any_open_ = true;
  if (open_and_lock_tables(thd_, &request, false, 0) || request.table == nullptr) {
    const store::Outcome outcome = failed_open();
    close_tables();
    return outcome;
  }
  opened.table = request.table;
  opened.purpose = purpose;
  opened.any_write = false;
  opened.statement_begun = true;
  open_.push_back(this->slot(slot.database, slot.name));
  if (!is_servable(*opened.table)) {
    close_tables();
    return Error::open_table;
  }
  if (is_write(purpose)) opened.table->file->prepare_for_insert(true);
  counters_.add(Counter::table_opens);
  return {};
}

// Says why a table could not be opened, and forgets the server's error.
store::Outcome OpenTables::failed_open() {
  const uint error = thd_->is_error() ? thd_->get_stmt_da()->sql_errno() : 0;
  thd_->clear_error();
  switch (error) {
    case ER_LOCK_WAIT_TIMEOUT:
    case ER_LOCK_DEADLOCK:
    case ER_LOCK_OR_ACTIVE_TRANSACTION:
    case ER_TABLE_DEF_CHANGED:
    case 0:
      return store::Verdict::blocked;
    case ER_QUERY_INTERRUPTED:
    case ER_CONNECTION_KILLED:
    case ER_SERVER_SHUTDOWN:
      return Status::server(ER_QUERY_INTERRUPTED);
    default:
      return Error::open_table;
  }
}

void OpenTables::forget_open_tables() {
  for (const auto& slot : open_) {
    for (OpenTable* opened : {&slot->reader, &slot->writer}) {
      opened->table = nullptr;
      opened->plan = nullptr;
      opened->setup = 0;
      opened->any_write = false;
    }
  }
  open_.clear();
}

void OpenTables::close_tables() {
  if (!any_open_) return;
  for (const auto& slot : open_) {
    for (OpenTable* opened : {&slot->reader, &slot->writer}) {
      if (opened->table == nullptr) continue;
      opened->table->file->ha_end_keyread();
      opened->table->file->ha_index_or_rnd_end();
    }
  }
  if (!thd_->transaction->stmt.is_empty()) trans_commit_stmt(thd_);
  close_thread_tables(thd_);
  forget_open_tables();
  if (alone_) {
    thd_->free_items();
    lex_end(thd_->lex);
    lex_start(thd_);
    // A pass may hold thousands of such statements.
    free_root(thd_->mem_root, MYF(MY_KEEP_PREALLOC));
  }
  alone_ = false;
  any_open_ = false;
}

void OpenTables::release() {
  close_tables();
  thd_->release_transactional_locks();
  free_root(thd_->mem_root, MYF(MY_KEEP_PREALLOC));
}

}  // namespace hs::mysqld
