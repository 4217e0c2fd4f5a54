// Checks whether bytes are well-formed UTF-8.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>

namespace thresher {

/// How many of the bytes at p are well-formed UTF-8 or, with `good` false, the start of a sequence that is then broken (the
/// Unicode standard, table 3-7).
inline std::size_t utf8_sequence(const unsigned char* p, const unsigned char* end, bool& good) {
  const unsigned char lead = *p;
  good = lead < 0x80;
  if (lead < 0xc2 || lead > 0xf4) return 1;
  const std::size_t length = lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
  unsigned char low = 0x80, high = 0xbf;  // second byte: no overlong forms, no surrogates, at most U+10FFFF
  if (lead == 0xe0) low = 0xa0;
  if (lead == 0xed) high = 0x9f;
  if (lead == 0xf0) low = 0x90;
  if (lead == 0xf4) high = 0x8f;
  for (std::size_t n = 1; n < length; ++n) {
    if (p + n >= end || p[n] < low || p[n] > high) return n;
    low = 0x80;
    high = 0xbf;
  }
  good = true;
  return length;
}

/// Whether [begin, end) is well-formed UTF-8.
inline bool is_utf8(const char* begin, const char* end) {
  const char* p = begin;
  for (; end - p >= 8; p += 8) {
    std::uint64_t eight;
    std::memcpy(&eight, p, 8);
    if (eight & 0x8080808080808080u) break;
  }
  const auto* q = reinterpret_cast<const unsigned char*>(p);
  const auto* const stop = reinterpret_cast<const unsigned char*>(end);
  for (bool good = true; q < stop;) {
    q += *q < 0x80 ? 1 : utf8_sequence(q, stop, good);
    if (!good) return false;
  }
  return true;
}

}  // namespace thresher
