// Encodes a column of text: a number for each distinct value, in order of first appearance.
#pragma once

#include <cstring>
#include <vector>

#include "growing.hpp"
#include "hash.hpp"
#include "text.hpp"

namespace thresher {

class Factorized {
 public:
  Growing<std::int32_t> codes;
  Growing<std::int64_t> first;  // where each value first appears

  explicit Factorized(const Texts& texts) : texts_(texts), slots_(64, -1) {
    for (std::int64_t i = 0; i < texts.n; ++i) codes.push(code_of(i));
  }

 private:
  std::size_t length(std::int64_t i) const { return static_cast<std::size_t>(texts_.end(i) - texts_.begin(i)); }

  bool same(std::int64_t i, std::int64_t j) const {
    return length(i) == length(j) && (length(i) == 0 || std::memcmp(texts_.begin(i), texts_.begin(j), length(i)) == 0);
  }

  std::int32_t code_of(std::int64_t i) {
    const std::uint64_t hash = hash_bytes(texts_.begin(i), length(i));
    for (std::size_t slot = hash & (slots_.size() - 1);; slot = (slot + 1) & (slots_.size() - 1)) {
      const std::int32_t code = slots_[slot];
      if (code < 0) return add(i, hash, slot);
      const auto c = static_cast<std::size_t>(code);
      if (hashes_[c] == hash && same(i, first.data()[c])) return code;
    }
  }

  std::int32_t add(std::int64_t i, std::uint64_t hash, std::size_t slot) {
    const auto code = static_cast<std::int32_t>(hashes_.size());
    slots_[slot] = code;
    first.push(i);
    hashes_.push_back(hash);
    if (2 * hashes_.size() > slots_.size()) grow();
    return code;
  }

  void grow() {
    slots_.assign(2 * slots_.size(), -1);
    for (std::size_t code = 0; code < hashes_.size(); ++code) {
      std::size_t slot = hashes_[code] & (slots_.size() - 1);
      while (slots_[slot] >= 0) slot = (slot + 1) & (slots_.size() - 1);
      slots_[slot] = static_cast<std::int32_t>(code);
    }
  }

  Texts texts_;
  std::vector<std::int32_t> slots_;  // their number is a power of two; less than half are in use
  std::vector<std::uint64_t> hashes_;
};

}  // namespace thresher
