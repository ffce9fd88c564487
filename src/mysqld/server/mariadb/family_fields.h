// MariaDB's half of server/fields.h.
#pragma once

namespace hs::mysqld::server {

inline const unsigned char* record_of(const Field& field) { return field.ptr; }

inline std::string_view name_of(const Field& field) {
  return {field.field_name.str, field.field_name.length};
}

inline std::uint16_t number_of(const Field& field) { return field.field_index; }

inline bool is_hidden(const Field& field) { return field.invisible == INVISIBLE_FULL; }

inline bool is_invisible(const Field& field) {
  return field.invisible == INVISIBLE_USER || field.invisible == INVISIBLE_SYSTEM;
}

inline std::string_view name_of(const CHARSET_INFO& charset) {
  return {charset.cs_name.str, charset.cs_name.length};
}

inline bool is_nullable(const Field& field) { return field.real_maybe_null(); }

inline bool is_zerofill(const Field& field) { return (field.flags & ZEROFILL_FLAG) != 0; }

inline bool is_blob(const Field& field) { return (field.flags & BLOB_FLAG) != 0; }

inline std::size_t bytes_of_blob(Field& field) { return field.value_length(); }

inline bool is_stored(const Field& field) { return field.stored_in_db(); }

inline bool is_generated(const Field& field) { return field.vcol_info != nullptr; }

inline bool is_version_column(const Field& field) { return field.vers_sys_field(); }

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
    case MYSQL_TYPE_BLOB:
    case MYSQL_TYPE_BLOB_COMPRESSED:
    case MYSQL_TYPE_VARCHAR_COMPRESSED: return true;
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
    case MYSQL_TYPE_BLOB:
      // UUID and INET are also stored as strings, but have a format of their own.
      return dynamic_cast<const Field_longstr*>(&field) != nullptr;
    default: return false;
  }
}

inline bool is_compressed(const Field& field) { return field.compression_method() != nullptr; }

inline bool takes_memory_to_read(const Field& field) { return is_compressed(field); }

inline void recover_from_no_memory(Field& field) { field.free(); }

inline unsigned length_bytes_of(const Field& field) {
  return static_cast<const Field_varstring&>(field).length_bytes;
}

inline bool is_integral(const Field& field) {
  return field.result_type() == INT_RESULT || field.result_type() == TIME_RESULT;
}

inline void assign_default(Field& field) { field.save_in_field_default_value(false); }

inline void assign_now(Field& field) {
  field.set_notnull();
  // A TIMESTAMP takes the moment itself: an hour may come twice in a time zone.
  if (field.set_time() == 0) return;
  THD* const thd = field.table->in_use;
  MYSQL_TIME now;
  thd->variables.time_zone->gmt_sec_to_TIME(&now, thd->query_start());
  const bool is_time = field.result_type() == TIME_RESULT || field.cmp_type() == TIME_RESULT;
  const uint digits = is_time ? std::min<uint>(field.decimals(), TIME_SECOND_PART_DIGITS) : 0;
  const ulong fraction = digits == 0 ? 0 : thd->query_start_sec_part();
  now.second_part = fraction - my_time_fraction_remainder(fraction, digits);
  field.store_time_dec(&now, digits);
}

inline std::size_t packed_room(const Field& field) {
  // A text may have a length in front.
  constexpr std::size_t room_for_length = 8;
  const std::size_t of_blob =
      is_blob(field) ? static_cast<const Field_blob&>(field).get_length() : 0;
  return field.pack_length() + room_for_length + of_blob;
}

inline unsigned char* pack(const Field& field, unsigned char* to) {
  return const_cast<Field&>(field).pack(to, field.ptr);
}

inline void unpack(Field& field, std::string_view image) {
  const auto* const from = reinterpret_cast<const unsigned char*>(image.data());
  field.unpack(field.ptr, from, from + image.size());
}

}  // namespace hs::mysqld::server
