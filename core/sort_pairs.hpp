// Sorts pairs of a column and a value by column; equal columns keep their order. Needed for rows of hashed features.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

namespace thresher {

struct ColumnValue {
  std::uint32_t column;
  double value;
};

/// Insertion sort for few pairs; otherwise radix sort from the lowest digit, which has no branch to mispredict. `spare` is
/// scratch memory. Columns are below 2^bits.
inline void sort_pairs(std::vector<ColumnValue>& pairs, std::size_t n, int bits, std::vector<ColumnValue>& spare) {
  if (n <= 24) {
    for (std::size_t i = 1; i < n; ++i) {
      const ColumnValue pair = pairs[i];
      std::size_t j = i;
      for (; j > 0 && pairs[j - 1].column > pair.column; --j) pairs[j] = pairs[j - 1];
      pairs[j] = pair;
    }
    return;
  }
  constexpr int digit = 6;
  constexpr std::uint32_t mask = (1u << digit) - 1;
  if (spare.size() < pairs.size()) spare.resize(pairs.size());
  for (int shift = 0; shift < bits; shift += digit) {
    std::size_t starts[mask + 2] = {};
    for (std::size_t i = 0; i < n; ++i) ++starts[(pairs[i].column >> shift & mask) + 1];
    for (std::size_t d = 1; d <= mask; ++d) starts[d] += starts[d - 1];
    for (std::size_t i = 0; i < n; ++i) spare[starts[pairs[i].column >> shift & mask]++] = pairs[i];
    std::swap(pairs, spare);
  }
}

}  // namespace thresher
