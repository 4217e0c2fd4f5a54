// A column of text in Arrow's layout: value i is data[offsets[i], offsets[i + 1]).
#pragma once

#include <cstdint>

namespace thresher {

struct Texts {
  const std::int64_t* offsets;
  const char* data;
  std::int64_t n;

  const char* begin(std::int64_t i) const { return data + offsets[i]; }
  const char* end(std::int64_t i) const { return data + offsets[i + 1]; }

  /// Whether every value lies within the data.
  bool fit(std::int64_t n_bytes) const {
    bool rising = offsets[0] >= 0 && offsets[n] <= n_bytes;
    for (std::int64_t i = 0; i < n; ++i) rising &= offsets[i] <= offsets[i + 1];
    return rising;
  }
};

}  // namespace thresher
