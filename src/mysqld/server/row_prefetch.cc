#include "mysqld/server/row_prefetch.h"

#include <algorithm>

namespace hs::mysqld::server {

void ExpectedKeys::add(Image image) {
  if (size_ == most || image.size() > most_bytes) return;
  std::ranges::copy(image, images_.begin() + static_cast<std::ptrdiff_t>(size_ * most_bytes));
  lengths_[size_++] = image.size();
}

}  // namespace hs::mysqld::server
