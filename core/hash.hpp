// Hashes text to 64 bits, the same on every machine. Eight bytes at a time are multiplied to 128 bits, whose halves are combined
// by xor.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler.hpp"

namespace thresher {

/// The upper half of a * b xor the lower: every bit of a affects every bit of the result.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) { return upper_product(a, b) ^ (a * b); }

/// n bytes, at most 8, as a number whose lowest byte is the first.
inline std::uint64_t little_endian(const char* p, std::size_t n) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < n; ++i) word |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  return word;
}

/// Incremental hash: first all whole words of a text, then the remaining bytes, even if there are none. The constants are the
/// golden ratio's fraction and the first bits of pi, made odd.
class WordHash {
 public:
  explicit WordHash(std::uint64_t seed) : h_(seed ^ golden) {}
  void add(std::uint64_t word) { h_ = folded_product(h_ ^ word, pi); }
  std::uint64_t end(std::size_t n_bytes) const { return folded_product(h_ ^ n_bytes, golden); }

 private:
  static constexpr std::uint64_t golden = 0x9e3779b97f4a7c15u, pi = 0x243f6a8885a308d3u;
  std::uint64_t h_;
};

inline std::uint64_t hash_bytes(const char* p, std::size_t n, std::uint64_t seed = 0) {
  WordHash hash(seed);
  std::size_t left = n;
  for (; left >= 8; left -= 8, p += 8) hash.add(little_endian(p, 8));
  hash.add(little_endian(p, left));
  return hash.end(n);
}

/// Maps the upper half of a hash to a number below n, where n is at most 2^32. Uniform up to one part in 2^32 / n.
inline std::uint32_t bucket_of(std::uint64_t hash, std::uint64_t n) {
  return static_cast<std::uint32_t>(((hash >> 32) * n) >> 32);
}

/// The lower half, which distinguishes texts in the same bucket. Never 0, since 0 means that no text was seen.
inline std::uint32_t fingerprint_of(std::uint64_t hash) {
  const auto low = static_cast<std::uint32_t>(hash);
  return low ? low : 1;
}

}  // namespace thresher
