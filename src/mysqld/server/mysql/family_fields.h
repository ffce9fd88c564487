// MySQL's half of server/fields.h.
#pragma once

namespace hs::mysqld::server {

inline const unsigned char* record_of(const Field& field) { return field.field_ptr(); }

inline std::string_view name_of(const Field& field) { return field.field_name; }

inline std::uint16_t number_of(const Field& field) { return field.field_index(); }

inline bool is_hidden(const Field& field) { return field.is_hidden_by_system(); }

inline bool is_zerofill(const Field& field) { return field.is_flag_set(ZEROFILL_FLAG); }

inline bool is_blob(const Field& field) { return field.is_flag_set(BLOB_FLAG); }

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

}  // namespace hs::mysqld::server
