// Names in Vowpal Wabbit text: where they end, and their hash.
#pragma once

#include <algorithm>

#include "hash.hpp"
#include "parse.hpp"

namespace thresher {

struct Span {
  const char *begin, *end;
  std::size_t size() const { return static_cast<std::size_t>(end - begin); }
};

inline bool ends_name(char c) { return is_blank(c) || c == ':' || c == '|'; }

/// The position of the first of eight bytes that ends a name; 8 if none does. Subtraction borrows from higher bytes only, so the
/// lowest bit found is correct; those above it may not be.
inline std::size_t first_stop(std::uint64_t word) {
  constexpr std::uint64_t ones = 0x0101010101010101u;
  std::uint64_t found = 0;
  for (const char c : {' ', '\t', ':', '|'}) {
    const std::uint64_t others = word ^ (ones * static_cast<unsigned char>(c));
    found |= (others - ones) & ~others;
  }
  found &= ones << 7;
  return found ? static_cast<std::size_t>(trailing_zeros(found)) / 8 : 8;
}

/// The end of the name at `begin`, and the hash that hash_bytes would give, in one loop over its bytes, eight at a time.
inline const char* scan_name(const char* const begin, const Line& line, std::uint64_t seed, std::uint64_t& hash) {
  WordHash words(seed);
  for (const char* p = begin;; p += 8) {
    const auto left = static_cast<std::size_t>(line.end - p);
    const std::uint64_t word = line.limit - p >= 8 ? little_endian(p, 8) : little_endian(p, left);
    const std::size_t n = std::min(first_stop(word), left);
    if (n < 8) {
      words.add(word & ((std::uint64_t{1} << (8 * n)) - 1));
      hash = words.end(static_cast<std::size_t>(p - begin) + n);
      return p + n;
    }
    words.add(word);
  }
}

}  // namespace thresher
