// Numbers side by side, in one register where the compiler has such. The plain forms give the same bits.
//
// Nothing returns lanes: how that is done depends on the registers of the machine that code is compiled for.
#pragma once
#include <cmath>
#include <cstdint>
#include <cstring>
#include <type_traits>

#include "compiler.hpp"

#if defined(__SSE2__) && THRESHER_GNU
#include <emmintrin.h>
#endif

/// Before a loop over lanes: sums stay in registers only where it leaves no loop.
#if THRESHER_GNU && !defined(__clang__)
#define THRESHER_UNROLL _Pragma("GCC unroll 8")
#else
#define THRESHER_UNROLL
#endif

#if THRESHER_GNU && defined(__has_builtin)
#if __has_builtin(__builtin_shufflevector) && __has_builtin(__builtin_convertvector)
#define THRESHER_SHUFFLES 1
#endif
#endif
#ifndef THRESHER_SHUFFLES
#define THRESHER_SHUFFLES 0
#endif

namespace thresher {

#if THRESHER_GNU
template <class T, int N>
struct LanesOf {
  using type __attribute__((vector_size(N * sizeof(T)))) = T;
};
template <class T, int N>
using Lanes = typename LanesOf<T, N>::type;
#else
template <class T, int N>
struct Lanes {
  T values[N];
  T& operator[](int i) { return values[i]; }
  const T& operator[](int i) const { return values[i]; }
  friend Lanes operator*(T factor, const Lanes& lanes) {
    Lanes product;
    for (int i = 0; i < N; ++i) product[i] = factor * lanes[i];
    return product;
  }
  friend Lanes operator*(const Lanes& one, const Lanes& other) {
    Lanes product;
    for (int i = 0; i < N; ++i) product[i] = one[i] * other[i];
    return product;
  }
  friend Lanes operator/(const Lanes& one, const Lanes& other) {
    Lanes quotient;
    for (int i = 0; i < N; ++i) quotient[i] = one[i] / other[i];
    return quotient;
  }
  friend Lanes operator-(const Lanes& one, const Lanes& other) {
    Lanes difference;
    for (int i = 0; i < N; ++i) difference[i] = one[i] - other[i];
    return difference;
  }
  friend Lanes operator+(Lanes one, const Lanes& other) { return one += other; }
  Lanes& operator+=(const Lanes& other) {
    for (int i = 0; i < N; ++i) values[i] += other[i];
    return *this;
  }
};
#endif

constexpr int kLane = 4;
using Lane = Lanes<double, kLane>;
#if THRESHER_GNU
using LaneMask = decltype(Lane() < Lane());
#else
using LaneMask = Lanes<std::int64_t, kLane>;
#endif

/// Whole numbers as wide as T.
template <class T>
using Whole = std::conditional_t<sizeof(T) == 8, std::int64_t, std::int32_t>;

template <class T, class L>
THRESHER_INLINE void load(L& lanes, const T* from) {
  std::memcpy(&lanes, from, sizeof lanes);
}
template <class T, class L>
THRESHER_INLINE void store(T* to, const L& lanes) {
  std::memcpy(to, &lanes, sizeof lanes);
}

template <int N, class T, class L>
THRESHER_INLINE void fill(L& lanes, T value) {
#if THRESHER_GNU
  lanes = value - L{};
#else
  for (int i = 0; i < N; ++i) lanes[i] = value;
#endif
}

/// The lower of two, entry by entry, and `name` where that is the second.
template <int N, class L, class M, class I>
THRESHER_INLINE void keep_lower(L& least, M& at, const L& costs, I name) {
#if THRESHER_GNU
  const M lower = costs < least, names = name - M{};
  least = lower ? costs : least;
  at = lower ? names : at;
#else
  for (int i = 0; i < N; ++i)
    if (costs[i] < least[i]) least[i] = costs[i], at[i] = name;
#endif
}

/// The least but one, of which `least` is the least so far.
template <int N, class L>
THRESHER_INLINE void keep_second(L& second, const L& least, const L& costs) {
#if THRESHER_GNU
  const L larger = costs < least ? least : costs;
  second = larger < second ? larger : second;
#else
  for (int i = 0; i < N; ++i) {
    const auto larger = costs[i] < least[i] ? least[i] : costs[i];
    if (larger < second[i]) second[i] = larger;
  }
#endif
}

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
