// Selects values of a column of text, in any order.
#pragma once

#include <cstring>
#include <stdexcept>

#include "growing.hpp"
#include "text.hpp"

namespace thresher {

/// The values at these indices; a negative index counts from the end.
inline void take_texts(const Texts& texts, const std::int64_t* places, std::size_t n, Growing<std::int64_t>& offsets,
                       Growing<std::uint8_t>& bytes) {
  std::int64_t* const ends = offsets.room(n + 1);
  ends[0] = 0;
  for (std::size_t k = 0; k < n; ++k) {
    const std::int64_t i = places[k] < 0 ? places[k] + texts.n : places[k];
    if (i < 0 || i >= texts.n) throw std::out_of_range("a place lies outside the texts.");
    const auto length = static_cast<std::size_t>(texts.end(i) - texts.begin(i));
    if (length > 0) std::memcpy(bytes.room(length), texts.begin(i), length);
    bytes.commit(length);
    ends[k + 1] = static_cast<std::int64_t>(bytes.size());
  }
  offsets.commit(n + 1);
}

}  // namespace thresher
