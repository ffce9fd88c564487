// MySQL's half of server/fields.h.
#pragma once

namespace hs::mysqld::server {

inline const unsigned char* record_of(const Field& field) { return field.field_ptr(); }

inline std::string_view name_of(const Field& field) { return field.field_name; }

inline std::uint16_t number_of(const Field& field) { return field.field_index(); }

inline bool is_hidden(const Field& field) { return field.is_hidden_by_system(); }

inline bool is_invisible(const Field& field) { return field.is_hidden_by_user(); }

inline std::string_view name_of(const CHARSET_INFO& charset) { return charset.csname; }

inline bool is_nullable(const Field& field) { return field.is_nullable(); }

inline bool is_zerofill(const Field& field) { return field.is_flag_set(ZEROFILL_FLAG); }

inline bool is_blob(const Field& field) { return field.is_flag_set(BLOB_FLAG); }

inline std::size_t bytes_of_blob(Field& field) { return field.data_length(); }

inline bool is_stored(const Field& field) { return !field.is_virtual_gcol(); }

inline bool is_generated(const Field& field) { return field.is_gcol(); }

// MySQL has no system versioning.
inline bool is_version_column(const Field& /*field*/) { return false; }

inline bool is_text(const Field& field) {
  switch (field.real_type()) {
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_VAR_STRING:
    case MYSQL_TYPE_ENUM:
    case MYSQL_TYPE_SET:
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB: return true;
    default: return false;
  }
}

inline bool is_plain_string(const Field& field) {
  switch (field.real_type()) {
    case MYSQL_TYPE_VARCHAR:
    case MYSQL_TYPE_STRING:
    case MYSQL_TYPE_TINY_BLOB:
    case MYSQL_TYPE_MEDIUM_BLOB:
    case MYSQL_TYPE_LONG_BLOB:
    case MYSQL_TYPE_BLOB: return true;
    default: return false;
  }
}

// MySQL does not compress single columns.
inline bool is_compressed(const Field& /*field*/) { return false; }

inline bool takes_memory_to_read(const Field& field) {
  return field.real_type() == MYSQL_TYPE_JSON;
}

inline void recover_from_no_memory(Field& field) { field.mem_free(); }

inline unsigned length_bytes_of(const Field& field) { return field.get_length_bytes(); }

inline bool is_integral(const Field& field) { return field.result_type() == INT_RESULT; }

inline void assign_default(Field& field) {
  if (field.is_flag_set(NO_DEFAULT_VALUE_FLAG) && field.real_type() != MYSQL_TYPE_ENUM) {
    field.reset();
    field.set_warning(Sql_condition::SL_WARNING, ER_NO_DEFAULT_FOR_FIELD, 1);
    return;
  }
  if (field.has_insert_default_datetime_value_expression() ||
      field.has_insert_default_general_value_expression()) {
    field.set_notnull();
    field.evaluate_insert_default_function();
  } else {
    field.set_default();
  }
}

inline void assign_now(Field& field) {
  THD* const thd = field.table->in_use;
  field.set_notnull();
  const bool is_time = is_temporal_type(field.type());
  const unsigned digits = is_time ? field.decimals() : 0;
  my_timeval moment = thd->query_start_timeval_trunc(digits);
  if (field.type() == MYSQL_TYPE_TIMESTAMP || field.type() == MYSQL_TYPE_DATETIME) {
    field.store_timestamp(&moment);
    return;
  }
  MYSQL_TIME now;
  thd->time_zone()->gmt_sec_to_TIME(&now, moment);
  field.store_time(&now, static_cast<std::uint8_t>(digits));
}

inline std::size_t packed_room(const Field& field) {
  // A text may have a length in front.
  constexpr std::size_t room_for_length = 8;
  const std::size_t of_blob =
      is_blob(field) ? static_cast<const Field_blob&>(field).get_length() : 0;
  return field.pack_length() + room_for_length + of_blob;
}

inline unsigned char* pack(const Field& field, unsigned char* to) { return field.pack(to); }

inline void unpack(Field& field, std::string_view image) {
  field.unpack(reinterpret_cast<const unsigned char*>(image.data()));
}

}  // namespace hs::mysqld::server
