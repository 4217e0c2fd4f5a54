// Four numbers that are worked on at once, in one register of AVX2, or in two of SSE2 or NEON. The bits are those of one at a time.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>

#include "compiler.hpp"

#if defined(__SSE2__) && THRESHER_GNU
#include <emmintrin.h>
#endif

namespace thresher {

constexpr int kLane = 4;

/// Before a loop over lanes: sums stay in registers only where it leaves no loop.
#if THRESHER_GNU && !defined(__clang__)
#define THRESHER_UNROLL _Pragma("GCC unroll 8")
#else
#define THRESHER_UNROLL
#endif

#if THRESHER_GNU
using Lane = double __attribute__((vector_size(32)));
using LaneMask = std::int64_t __attribute__((vector_size(32)));
#else
template <class T> struct Four {
  T values[kLane];
  T& operator[](int i) { return values[i]; }
  const T& operator[](int i) const { return values[i]; }
};
using Lane = Four<double>;
using LaneMask = Four<std::int64_t>;
inline Lane operator*(double factor, const Lane& lane) {
  return {factor * lane[0], factor * lane[1], factor * lane[2], factor * lane[3]};
}
inline Lane& operator+=(Lane& lane, const Lane& other) {
  for (int i = 0; i < kLane; ++i) lane[i] += other[i];
  return lane;
}
#endif

/// Nothing returns a lane: how that is done depends on the registers of the machine that code is compiled for.
THRESHER_INLINE void load(Lane& lane, const double* from) { std::memcpy(&lane, from, sizeof lane); }

// What formulas are written with that are compiled for one number and for a lane of them.

/// The numbers that V holds, and what a comparison of them gives.
template <class V> struct LaneOf {
  static constexpr int width = sizeof(V) / 8;
  using Mask = decltype(V() < V());
};
#if THRESHER_GNU
using Widest = Lane;  // in code for AVX2
#else
using Widest = double;
#endif

/// Whether a comparison holds for entry l.
THRESHER_INLINE bool entry(bool mask, int) { return mask; }
#if THRESHER_GNU
THRESHER_INLINE bool entry(const LaneMask& mask, int l) { return mask[l] != 0; }
#endif

template <class V>
THRESHER_INLINE void take_root(V& root, const V& of) {
  constexpr int n = sizeof(V) / 8;
#if defined(__SSE2__) && THRESHER_GNU
  if constexpr (n > 1) {
    __m128d pairs[n / 2];
    std::memcpy(pairs, &of, sizeof pairs);
    for (__m128d& pair : pairs) pair = _mm_sqrt_pd(pair);
    std::memcpy(&root, pairs, sizeof pairs);
    return;
  }
#endif
  double each[n];
  std::memcpy(each, &of, sizeof each);
  for (double& one : each) one = std::sqrt(one);
  std::memcpy(&root, each, sizeof each);
}

/// The whole number at or below v, which is at least 0 and less than 2^51.
template <class V>
THRESHER_INLINE void round_down(V& v) {
  const V nearest = (v + 0x1p52) - 0x1p52;
  v = nearest > v ? nearest - 1.0 : nearest;
}

}  // namespace thresher
