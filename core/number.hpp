// Decimal text -> the nearest double, ties to even: the same bits as Python's float().
//
// Three exact methods. Short numbers: mantissa and power of ten are both exact doubles, so one operation rounds once (Clinger,
// PLDI 1990). Up to 19 digits with a negative power: one 128-bit division. All others: std::from_chars. Nothing reads at or
// behind `end`, whatever the bytes are, and no terminator is assumed.
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>
#if !defined(__cpp_lib_to_chars) || defined(THRESHER_PLAIN)
#include <locale.h>
#include <stdlib.h>
#ifdef __APPLE__
#include <xlocale.h>
#endif
#endif

#include "compiler.hpp"

namespace thresher {

inline bool is_digit(char c) { return static_cast<unsigned char>(c - '0') < 10; }

/// Appends the digits at p to `number` (modulo 2^64) and returns the first byte that is not a digit. Takes eight bytes at a time
/// without a branch on the number of digits: the lengths of indices vary, and mispredictions would cost more.
inline const char* scan_digits(const char* p, const char* end, std::uint64_t& number) {
#if defined(__BYTE_ORDER__) && __BYTE_ORDER__ == __ORDER_LITTLE_ENDIAN__
  static constexpr std::uint64_t powers[] = {1, 10, 100, 1000, 10000, 100000, 1000000, 10000000, 100000000};
  while (end - p >= 8) {
    std::uint64_t x;
    std::memcpy(&x, p, 8);
    x ^= 0x3030303030303030u;  // digits become 0..9, the first in the lowest byte
    const std::uint64_t others = ((x + 0x7676767676767676u) | x) & 0x8080808080808080u;
    const int n = others ? trailing_zeros(others) / 8 : 8;  // carries only affect bytes behind the first non-digit
    if (n == 0) return p;
    x <<= 64 - 8 * n;                               // n digits behind 8 - n leading zeros
    x = (x * 10 + (x >> 8)) & 0x00ff00ff00ff00ffu;  // pairs, then fours, then all eight
    x = (x * 100 + (x >> 16)) & 0x0000ffff0000ffffu;
    x = (x * 10000 + (x >> 32)) & 0xffffffffu;
    number = number * powers[n] + x;
    p += n;
    if (n < 8) return p;
  }
#endif
  for (; p < end && is_digit(*p); ++p) number = number * 10 + static_cast<std::uint64_t>(*p - '0');
  return p;
}

/// The digits of [p, end) as a whole number, capped at the largest 64-bit integer. Leading zeros are ignored.
inline std::uint64_t whole_number(const char* p, const char* end) {
  constexpr std::uint64_t largest = std::numeric_limits<std::uint64_t>::max();
  std::uint64_t number = 0;
  for (; p < end; ++p) {
    if (number > largest / 10 - 1) return largest;
    number = number * 10 + static_cast<std::uint64_t>(*p - '0');
  }
  return number;
}

namespace number_detail {

/// mantissa / 10^k for 0 < mantissa < 2^64 and 0 <= k <= 27, where 5^k fits in 64 bits. The quotient has at least 63 bits; its
/// last one is set if anything was cut off, so the conversion to double is the only rounding.
inline double divided(std::uint64_t mantissa, int k) {
  std::uint64_t divisor = 1;
  for (int i = 0; i < k; ++i) divisor *= 5;
  const int up = leading_zeros(mantissa), down = leading_zeros(divisor);
  const std::uint64_t numerator = mantissa << up, d = divisor << down, quotient = shifted_quotient(numerator, d);
  const bool inexact = numerator << 63 != quotient * d;  // modulo 2^64 is enough: they differ by less than d
  const std::uint64_t scale = static_cast<std::uint64_t>(1023 + down - up - 63 - k) << 52;  // never near 0
  double power;
  std::memcpy(&power, &scale, 8);
  return static_cast<double>(quotient | inexact) * power;
}

/// Any decimal: [digits, end) are digits with at most one point. Rewritten as 0.ddd e point with at most 801 digits. Digits
/// behind the 767th only decide whether a number is a tie or above it, which the last digit records. Not inlined: it is rare, and
/// its buffer would slow down every loop that contains it.
[[gnu::noinline]] inline double any(const char* digits, const char* end, std::int64_t point) {
  constexpr int most = 800;
  char text[most + 16];
  int n = 1;
  text[0] = '.';
  bool fraction = false, more = false;
  for (const char* p = digits; p < end; ++p) {
    const bool leading = n == 1 && *p == '0';
    if (*p == '.') fraction = true;
    else if (leading) point -= fraction;
    else point += !fraction;
    if (*p == '.' || leading) continue;
    if (n <= most) text[n++] = *p;
    else more |= *p != '0';
  }
  if (n == 1 || point < -400) return 0;
  if (point > 400) return std::numeric_limits<double>::infinity();
  if (more) text[n++] = '1';
  text[n++] = 'e';
  char* const stop = std::to_chars(text + n, text + sizeof text - 1, point).ptr;
#if defined(__cpp_lib_to_chars) && !defined(THRESHER_PLAIN)
  double value = 0;
  const auto result = std::from_chars(text, stop, value);
  if (result.ec == std::errc::result_out_of_range) return point > 0 ? std::numeric_limits<double>::infinity() : 0;
  return value;
#else  // libc++ before version 20 has from_chars for integers only
  static const locale_t c = newlocale(LC_ALL_MASK, "C", locale_t{});
  *stop = 0;
  return strtod_l(text, nullptr, c);
#endif
}

}  // namespace number_detail

/// Reads [+-] digits [. digits] [e [+-] digits], with a digit on at least one side of the point. Returns the byte behind the
/// number, or null if there is none; the words inf and nan are not numbers. A number too large for a double becomes infinity.
/// Always inlined: reading is slower otherwise.
[[gnu::always_inline]] inline const char* scan_number(const char* p, const char* end, double& value) {
  static constexpr double powers[] = {1e0,  1e1,  1e2,  1e3,  1e4,  1e5,  1e6,  1e7,  1e8,  1e9,  1e10, 1e11,
                                      1e12, 1e13, 1e14, 1e15, 1e16, 1e17, 1e18, 1e19, 1e20, 1e21, 1e22};
  if (p >= end) return nullptr;
  const bool negative = *p == '-';
  p += negative | (*p == '+');  // signs are as good as random, so no branch
  const char* const digits = p;
  std::uint64_t mantissa = 0;
  if (end - p >= 2 && is_digit(p[0]) && !is_digit(p[1])) {  // 0.125 or 1: most numbers
    mantissa = static_cast<std::uint64_t>(*p++ - '0');
  } else {
    p = scan_digits(p, end, mantissa);
  }
  std::int64_t n_digits = p - digits, exponent = 0;
  if (p < end && *p == '.') {
    const char* const fraction = ++p;
    p = scan_digits(p, end, mantissa);
    exponent = fraction - p;
    n_digits -= exponent;
  }
  if (n_digits == 0) return nullptr;
  const char* const stop = p;
  std::int64_t written = 0;  // the exponent as written
  if (p < end && (*p == 'e' || *p == 'E')) {
    const char* q = p + 1;
    const bool down = q < end && *q == '-';
    if (q < end && (*q == '-' || *q == '+')) ++q;
    if (q < end && is_digit(*q)) {  // else the number ends before the e
      for (; q < end && is_digit(*q); ++q)
        if (written < 100000000000000000) written = written * 10 + (*q - '0');
      if (down) written = -written;
      p = q;
    }
  }
  exponent += written;
  double size;
  if (n_digits <= 19 && mantissa <= (std::uint64_t{1} << 53) && exponent >= -22 && exponent <= 22) {
    size = static_cast<double>(mantissa);
    size = exponent < 0 ? size / powers[-exponent] : size * powers[exponent];
  } else if (n_digits <= 19 && mantissa != 0 && exponent >= -27 && exponent <= 0) {
    size = number_detail::divided(mantissa, static_cast<int>(-exponent));
  } else {
    size = number_detail::any(digits, stop, written);
  }
  value = std::copysign(size, negative ? -1.0 : 1.0);
  return p;
}

}  // namespace thresher
