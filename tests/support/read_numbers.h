// Reads numbers from a file without scanf. A program built on a newer Debian that calls scanf needs
// a symbol that an older Debian's C library does not have, and an older Debian's server has to load
// it.
#pragma once

#include <cstddef>
#include <cstdio>
#include <span>

// False if the file contains fewer numbers. Anything that is not a digit separates two numbers.
inline bool read_numbers(std::FILE* file, std::span<std::size_t> numbers) {
  for (std::size_t& number : numbers) {
    int c = std::fgetc(file);
    while (c != EOF && (c < '0' || c > '9')) c = std::fgetc(file);
    if (c == EOF) return false;
    number = 0;
    for (; c >= '0' && c <= '9'; c = std::fgetc(file)) {
      number = 10 * number + static_cast<std::size_t>(c - '0');
    }
  }
  return true;
}
