// MemoryIndex: an open index of the in-memory store.
//
// Used on the thread of the store that has made it. It owns no row.
#pragma once

#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "store/memory_table.h"
#include "store/store.h"

namespace hs::store {

class MemoryIndex final : public Index {
 public:
  MemoryIndex(MemoryTable& table, std::size_t key, std::vector<std::uint32_t> columns,
              std::vector<std::uint32_t> filter_columns, std::vector<Column> readers,
              std::shared_ptr<const IndexShape> shape)
      : table(table),
        key(key),
        columns(std::move(columns)),
        filter_columns(std::move(filter_columns)),
        readers(std::move(readers)),
        shape_(std::move(shape)) {}

  std::uint32_t key_parts() const override {
    return static_cast<std::uint32_t>(table.spec().keys[key].columns.size());
  }
  std::uint32_t column_count() const override { return static_cast<std::uint32_t>(columns.size()); }
  std::uint64_t version() const override { return 1; }
  std::shared_ptr<const IndexShape> shape() const override { return shape_; }

  MemoryTable& table;
  const std::size_t key;
  const std::vector<std::uint32_t> columns;
  const std::vector<std::uint32_t> filter_columns;
  const std::vector<Column> readers;  // of `columns`

 private:
  const std::shared_ptr<const IndexShape> shape_;
};

}  // namespace hs::store
