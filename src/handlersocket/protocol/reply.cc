#include "handlersocket/protocol/reply.h"

#include <cassert>

#include "handlersocket/protocol/error_texts.h"
#include "handlersocket/protocol/errors.h"
#include "handlersocket/protocol/escape.h"
#include "handlersocket/protocol/number.h"

namespace hs::handlersocket {

using namespace std::string_view_literals;

void ReplyWriter::ok(std::uint64_t count) { inserted(count, false); }

void ReplyWriter::inserted(std::uint64_t id, bool is_negative) {
  out_.append("0\t1\t");
  if (is_negative) out_.push_back('-');
  append_number(out_, id);
  out_.push_back('\n');
}

void ReplyWriter::inserted_row(std::string_view fate, const std::optional<store::InsertId>& id) {
  out_.push_back('\t');
  out_.append(fate);
  out_.push_back('\t');
  if (!id) return out_.push_back('\0');
  if (id->is_negative()) out_.push_back('-');
  append_number(out_, id->magnitude());
}

void ReplyWriter::error(Status status) {
  assert(!status.ok());
  const ErrorReply reply = reply_of(status);
  append_number(out_, reply.code);
  out_.append("\t1\t");
  if (reply.text.empty()) {
    append_number(out_, reply.number);
  } else {
    out_.append(reply.text);
  }
  out_.push_back('\n');
}

void ReplyWriter::undone(std::uint64_t line) {
  const ErrorReply reply = reply_of(status_of(Mistake::undone));
  append_number(out_, reply.code);
  out_.append("\t2\t");
  out_.append(reply.text);
  out_.push_back('\t');
  append_number(out_, line);
  out_.push_back('\n');
}

void ReplyWriter::explained(Status status, char columns, const store::Said& said) {
  const ErrorReply reply = reply_of(status);
  const SqlError sql = error_text_of(status);
  append_number(out_, reply.code);
  out_.push_back('\t');
  out_.push_back(columns);
  out_.push_back('\t');
  if (reply.text.empty()) {
    append_number(out_, reply.number);
  } else {
    out_.append(reply.text);
  }
  out_.push_back('\t');
  append_number(out_, sql.number);
  out_.push_back('\t');
  out_.append(said.state.empty() ? sql.state : said.state);
  out_.push_back('\t');
  append_escaped(out_, said.text.empty() ? sql.text : said.text);
}

void ReplyWriter::error_with_text(Status status, const store::Said& said) {
  explained(status, '4', said);
  out_.push_back('\n');
}

void ReplyWriter::undone_with_text(std::uint64_t line) {
  explained(status_of(Mistake::undone), '5', {});
  out_.push_back('\t');
  append_number(out_, line);
  out_.push_back('\n');
}

void ReplyWriter::described_column(std::string_view kind, std::string_view name,
                                   const store::DescribedColumn* column) {
  text(kind);
  name.empty() ? null() : text(name);
  if (column == nullptr) {
    for (std::uint32_t i = 2; i < description_columns; ++i) null();
    return;
  }
  text(column->type);
  flag(column->is_nullable);
  flag(column->is_unsigned);
  out_.push_back('\t');
  append_number(out_, column->decimals);
  column->character_set.empty() ? null() : text(column->character_set);
}

void ReplyWriter::listed_name(std::string_view name) { text(name); }

void ReplyWriter::index_part(const store::DescribedIndex& index, const store::DescribedPart& part) {
  text(index.name);
  flag(index.is_unique);
  flag(index.is_ordered);
  part.column.empty() ? null() : text(part.column);
  flag(part.descends);
  flag(part.is_prefix);
}

void ReplyWriter::warning(const store::Warning& warning) {
  text(warning.is_note ? "Note" : "Warning");
  out_.push_back('\t');
  append_number(out_, warning.number);
  text(warning.text);
}

void ReplyWriter::echo(const store::Value& echoed) {
  begin_rows(1);
  echoed.null ? null() : text(echoed.bytes);
  end_rows();
}

void ReplyWriter::text(std::string_view value) {
  out_.push_back('\t');
  append_escaped(out_, value);
}

void ReplyWriter::flag(bool is_set) { text(is_set ? "1" : "0"); }

void ReplyWriter::null() { out_.append("\t\0"sv); }

void ReplyWriter::greeting(std::string_view name, std::string_view value) {
  out_.push_back('\t');
  out_.append(name);
  out_.push_back('\t');
  append_escaped(out_, value);
}

void ReplyWriter::begin_wide_rows(std::uint32_t columns) {
  out_.append("0\t");
  append_number(out_, columns);
}

}  // namespace hs::handlersocket
