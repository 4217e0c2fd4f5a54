// Random numbers without a generator: a number is a function of what it is for, so that any order of asking gives the same.
#pragma once
#include <cstring>

#include "hash.hpp"

namespace thresher {

/// Between 0 and 1, both left out, for one column at one step. Numbers count by their bits: every double is a key.
inline double uniform_draw(double seed, double column, double step) {
  std::uint64_t h = 0x9e3779b97f4a7c15u;
  for (const double part : {seed, column, step}) {
    std::uint64_t bits;
    std::memcpy(&bits, &part, sizeof bits);
    h = folded_product(h ^ bits, 0x243f6a8885a308d3u) + 0x13198a2e03707345u;
  }
  h = folded_product(h ^ (h >> 29), 0xa4093822299f31d1u);
  return (static_cast<double>(h >> 11) + 0.5) * 0x1p-53;
}

}  // namespace thresher
