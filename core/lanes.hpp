// Numbers side by side, in one register where the compiler has such. The plain forms give the same bits.
//
// Nothing returns lanes: how that is done depends on the registers of the machine that code is compiled for.
#pragma once
#include <cstring>
#include <type_traits>

#include "rows.hpp"

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
  typedef T type __attribute__((vector_size(N * sizeof(T))));
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
  Lanes& operator+=(const Lanes& other) {
    for (int i = 0; i < N; ++i) values[i] += other[i];
    return *this;
  }
};
#endif

constexpr int kLane = 4;
using Lane = Lanes<double, kLane>;

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

/// Bytes of the widest registers of the machine, and attributes of functions that use them; 32 where registers are many.
#if defined(__x86_64__) && THRESHER_GNU
#define THRESHER_AVX2 __attribute__((target("avx2")))
#if defined(__clang__)
#define THRESHER_AVX512 __attribute__((target("avx512f")))
#else  // plain loops, whose arrays lie anywhere, do not gain by the widest
#define THRESHER_AVX512 __attribute__((target("avx512f,prefer-vector-width=256")))
#endif
inline int widest_register() { return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16; }
#else
#define THRESHER_AVX2
#define THRESHER_AVX512
inline int widest_register() { return 32; }
#endif
inline bool is_wide() { return widest_register() >= 32; }

}  // namespace thresher
