// memcached's text and meta protocol, and Redis's: get and set of one string for each key, or of a
// row's columns as the fields of a hash.
#include <algorithm>
#include <charconv>
#include <string>
#include <vector>

#include "load/line_cutter.h"
#include "load/options.h"
#include "load/wire.h"

namespace hs::bench {
namespace {

constexpr std::string_view line_end = "\r\n";

std::uint64_t number(std::string_view digits) {
  std::uint64_t value = 0;
  std::from_chars(digits.data(), digits.data() + digits.size(), value);
  return value;
}

void append_number(Buffer& out, std::uint64_t value) {
  constexpr std::size_t max_digits = 20;
  char* at = out.reserve(max_digits);
  out.advance_to(std::to_chars(at, at + max_digits, value).ptr);
}

class MemcachedCounter final : public ReplyCounter {
 public:
  explicit MemcachedCounter(bool only_finds) : only_finds_(only_finds) {}

  void feed(std::string_view bytes, Tally& tally) override {
    cutter_.feed(bytes, [&](std::string_view line) { return on_line(line, tally); });
  }

 private:
  std::uint64_t on_line(std::string_view line, Tally& tally) {
    if (line.starts_with("VALUE ")) {
      ++tally.rows;
      found_ = true;
      return number(line.substr(line.rfind(' ') + 1)) + line_end.size();
    }
    ++tally.replies;
    if (line == "END") {
      tally.misses += only_finds_ && !found_;
    } else if (line != "STORED") {
      tally.error(line);
    }
    found_ = false;
    return 0;
  }

  LineCutter cutter_;
  bool only_finds_;
  bool found_ = false;
};

// Of meta requests, each of which has one reply.
class MetaCounter final : public ReplyCounter {
 public:
  void feed(std::string_view bytes, Tally& tally) override {
    cutter_.feed(bytes, [&](std::string_view line) { return on_line(line, tally); });
  }

 private:
  static std::uint64_t on_line(std::string_view line, Tally& tally) {
    ++tally.replies;
    if (line.starts_with("VA ")) {
      ++tally.rows;
      return number(line.substr(3)) + line_end.size();
    }
    if (line == "EN") {
      ++tally.misses;
    } else if (line != "HD") {
      tally.error(line);
    }
    return 0;
  }

  LineCutter cutter_;
};

class RedisCounter final : public ReplyCounter {
 public:
  void feed(std::string_view bytes, Tally& tally) override {
    cutter_.feed(bytes, [&](std::string_view line) { return on_line(line, tally); });
  }

 private:
  std::uint64_t on_line(std::string_view line, Tally& tally) {
    std::uint64_t skip = 0;
    const char kind = line.empty() ? '-' : line.front();
    if (kind == '*') {
      elements_ = number(line.substr(1));
      if (elements_ != 0) return 0;
      ++tally.misses;  // HGETALL of a row that is not there
    } else if (kind == '$' && line != "$-1") {
      ++tally.rows;
      skip = number(line.substr(1)) + line_end.size();
    } else if (kind == '$') {
      ++tally.misses;
    } else if (kind != '+' && kind != ':') {
      tally.error(line);
    }
    if (elements_ > 0) --elements_;
    tally.replies += elements_ == 0;
    return skip;
  }

  LineCutter cutter_;
  std::uint64_t elements_ = 0;  // of the array that is being read
};

// What both wires write: keys and values made from templates.
class StoredText {
 public:
  explicit StoredText(const Options& options)
      : key_template_(options.stored_key.front()),
        value_template_(options.stored_value.front()),
        n_(options.first_number) {}

  std::string_view key(std::uint64_t key) {
    key_.clear();
    key_template_.append(key_, key, n_);
    return key_.view();
  }
  std::string_view value(std::uint64_t key) {
    value_.clear();
    value_template_.append(value_, key, ++n_);
    return value_.view();
  }

 private:
  const ValueTemplate& key_template_;
  const ValueTemplate& value_template_;
  Buffer key_;
  Buffer value_;
  std::uint64_t n_;
};

class MemcachedWire final : public Wire {
 public:
  explicit MemcachedWire(const Options& options) : text_(options), mix_(options.mix) {}

  std::size_t greet(Buffer& /*out*/) override { return 0; }

  void write(Buffer& out, Action action, std::span<const std::uint64_t> keys) override {
    if (action == Action::find) {
      out.append("get");
      for (const std::uint64_t key : keys) {
        out.push_back(' ');
        out.append(text_.key(key));
      }
    } else {
      const std::string_view value = text_.value(keys.front());
      out.append("set ");
      out.append(text_.key(keys.front()));
      out.append(" 0 0 ");
      append_number(out, value.size());
      out.append(line_end);
      out.append(value);
    }
    out.append(line_end);
  }

  std::unique_ptr<ReplyCounter> counter() const override {
    return std::make_unique<MemcachedCounter>(mix_.find == 100);
  }

 private:
  StoredText text_;
  const Mix& mix_;
};

class MetaWire final : public Wire {
 public:
  explicit MetaWire(const Options& options) : text_(options) {}

  std::size_t greet(Buffer& /*out*/) override { return 0; }

  void write(Buffer& out, Action action, std::span<const std::uint64_t> keys) override {
    const bool reads = action == Action::find;
    out.append(reads ? "mg " : "ms ");
    out.append(text_.key(keys.front()));
    if (reads) {
      out.append(" v");
    } else {
      const std::string_view value = text_.value(keys.front());
      out.push_back(' ');
      append_number(out, value.size());
      out.append(line_end);
      out.append(value);
    }
    out.append(line_end);
  }

  std::unique_ptr<ReplyCounter> counter() const override { return std::make_unique<MetaCounter>(); }

 private:
  StoredText text_;
};

void begin(Buffer& out, std::size_t elements) {
  out.push_back('*');
  append_number(out, elements);
  out.append(line_end);
}

void bulk(Buffer& out, std::string_view bytes) {
  out.push_back('$');
  append_number(out, bytes.size());
  out.append(line_end);
  out.append(bytes);
  out.append(line_end);
}

class RedisWire final : public Wire {
 public:
  explicit RedisWire(const Options& options) : text_(options) {}

  std::size_t greet(Buffer& /*out*/) override { return 0; }

  void write(Buffer& out, Action action, std::span<const std::uint64_t> keys) override {
    if (action != Action::find) {
      begin(out, 3);
      bulk(out, "SET");
      bulk(out, text_.key(keys.front()));
      bulk(out, text_.value(keys.front()));
      return;
    }
    begin(out, keys.size() + 1);
    bulk(out, keys.size() > 1 ? "MGET" : "GET");
    for (const std::uint64_t key : keys) bulk(out, text_.key(key));
  }

  std::unique_ptr<ReplyCounter> counter() const override {
    return std::make_unique<RedisCounter>();
  }

 private:
  StoredText text_;
};

// Reads the columns of a row by their names, as a find does, or all of them. The stored value has one
// column between TABs for each name.
class RedisHashWire final : public Wire {
 public:
  explicit RedisHashWire(const Options& options) : text_(options) {
    std::string_view names = options.columns;
    reads_all_ = names == "*";
    if (reads_all_) names = {};
    while (!names.empty()) fields_.emplace_back(cut(names, ','));
  }

  std::size_t greet(Buffer& /*out*/) override { return 0; }

  void write(Buffer& out, Action action, std::span<const std::uint64_t> keys) override {
    const bool reads = action == Action::find;
    if (reads && reads_all_) {
      begin(out, 2);
      bulk(out, "HGETALL");
      bulk(out, text_.key(keys.front()));
      return;
    }
    begin(out, 2 + fields_.size() * (reads ? 1 : 2));
    bulk(out, reads ? "HMGET" : "HSET");
    bulk(out, text_.key(keys.front()));
    std::string_view values = reads ? std::string_view{} : text_.value(keys.front());
    for (const std::string& field : fields_) {
      bulk(out, field);
      if (!reads) bulk(out, cut(values, '\t'));
    }
  }

  std::unique_ptr<ReplyCounter> counter() const override {
    return std::make_unique<RedisCounter>();
  }

 private:
  static std::string_view cut(std::string_view& text, char separator) {
    const std::size_t end = std::min(text.find(separator), text.size());
    const std::string_view piece = text.substr(0, end);
    text.remove_prefix(std::min(end + 1, text.size()));
    return piece;
  }

  StoredText text_;
  bool reads_all_ = false;
  std::vector<std::string> fields_;
};

}  // namespace

std::unique_ptr<Wire> make_memcached_wire(const Options& options) {
  return std::make_unique<MemcachedWire>(options);
}

std::unique_ptr<Wire> make_memcached_meta_wire(const Options& options) {
  return std::make_unique<MetaWire>(options);
}

std::unique_ptr<Wire> make_redis_hash_wire(const Options& options) {
  return std::make_unique<RedisHashWire>(options);
}

std::unique_ptr<Wire> make_redis_wire(const Options& options) {
  return std::make_unique<RedisWire>(options);
}

std::unique_ptr<Wire> make_wire(const Options& options) {
  switch (options.protocol) {
    case Protocol::memcached: return make_memcached_wire(options);
    case Protocol::memcached_meta: return make_memcached_meta_wire(options);
    case Protocol::redis: return make_redis_wire(options);
    case Protocol::redis_hash: return make_redis_hash_wire(options);
    case Protocol::mysqlx: return make_mysqlx_wire(options);
    case Protocol::handlersocket: break;
  }
  return make_handlersocket_wire(options);
}

}  // namespace hs::bench
