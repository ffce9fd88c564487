// give_back(): frees scratch memory that an unusual request has needed.
//
// Scratch memory is used again for each request. A thread that is done with its requests calls this
// so that it does not keep the memory of a very large one.
#pragma once

#include <cstddef>

namespace hs {

// Frees the container's memory if there is room for more than `kept` elements in it. Otherwise
// leaves it as it is. Not the same as `container = {}`, which keeps the memory.
template <class Container>
void give_back(Container& container, std::size_t kept) {
  if (container.capacity() > kept) [[unlikely]]
    Container().swap(container);
}

}  // namespace hs
