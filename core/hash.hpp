// Text -> 64 bits, the same on every machine. Eight bytes at a time are mixed by a full product folded in half.
#pragma once

#include <cstddef>
#include <cstdint>

#include "compiler.hpp"

namespace thresher {

/// Both halves of a * b, one xored with the other: every bit of a reaches every bit of the result.
inline std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) { return upper_product(a, b) ^ (a * b); }

/// n bytes, at most 8, as a number whose lowest byte is the first.
inline std::uint64_t little_endian(const char* p, std::size_t n) {
  std::uint64_t word = 0;
  for (std::size_t i = 0; i < n; ++i) word |= static_cast<std::uint64_t>(static_cast<unsigned char>(p[i])) << (8 * i);
  return word;
}

/// A hash in the making: all whole words of a text, then what is left of it, even if that is nothing. The constants are the
/// fraction of the golden ratio and the first bits of pi, made odd.
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

/// The upper half of a hash as a number below n, which is at most 2^32: even to one part in 2^32 / n.
inline std::uint32_t bucket_of(std::uint64_t hash, std::uint64_t n) {
  return static_cast<std::uint32_t>(((hash >> 32) * n) >> 32);
}

/// The lower half, to tell texts in one bucket from each other. Never 0, which means that no text was seen.
inline std::uint32_t fingerprint_of(std::uint64_t hash) {
  const auto low = static_cast<std::uint32_t>(hash);
  return low ? low : 1;
}

}  // namespace thresher
