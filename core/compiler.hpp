// Features that only some compilers offer, each with a plain form that gives the same bits. THRESHER_PLAIN selects the plain
// forms everywhere, for tests.
#pragma once
#include <cstdint>
#include <cstring>

#if defined(__GNUC__) && !defined(THRESHER_PLAIN)  // GCC and Clang
#define THRESHER_GNU 1
#define THRESHER_INLINE inline __attribute__((always_inline))
#define THRESHER_APART __attribute__((noinline))  // compiled once, however many loops call it
#define THRESHER_LIKELY(condition) __builtin_expect(condition, true)
#else
#define THRESHER_GNU 0
#define THRESHER_INLINE inline
#define THRESHER_APART
#define THRESHER_LIKELY(condition) (condition)
#endif

#if THRESHER_GNU && defined(__SIZEOF_INT128__)
#define THRESHER_INT128 1
#else
#define THRESHER_INT128 0
#endif

namespace thresher {

/// Bytes of the widest SIMD registers of the machine, and attributes for functions that use them. Other platforms count as 32.
#if defined(__x86_64__) && THRESHER_GNU
#define THRESHER_AVX2 __attribute__((target("avx2")))
#if defined(__clang__)
#define THRESHER_AVX512 __attribute__((target("avx512f")))
#else  // GCC's plain loops over unaligned arrays do not gain from 64 bytes
#define THRESHER_AVX512 __attribute__((target("avx512f,prefer-vector-width=256")))
#endif
inline int widest_register() { return __builtin_cpu_supports("avx512f") ? 64 : __builtin_cpu_supports("avx2") ? 32 : 16; }
#else
#define THRESHER_AVX2
#define THRESHER_AVX512
inline int widest_register() { return 32; }
#endif
inline bool is_wide() { return widest_register() >= 32; }

/// Prefetches the cache line at p.
THRESHER_INLINE void prefetch_line([[maybe_unused]] const void* p) {
#if THRESHER_GNU
  __builtin_prefetch(p);
#endif
}

/// Keeps the compiler from dropping calls of a function that only prefetches.
THRESHER_INLINE void keep_call() {
#if THRESHER_GNU
  __asm__ volatile("");
#endif
}

/// `a` if `first`, else `b`, without a branch.
THRESHER_INLINE double choose(bool first, double a, double b) {
  std::uint64_t x, y;
  std::memcpy(&x, &a, sizeof x);
  std::memcpy(&y, &b, sizeof y);
  y ^= (x ^ y) & (std::uint64_t{0} - first);
  std::memcpy(&b, &y, sizeof y);
  return b;
}

/// Two numbers, in one SIMD register if the compiler supports it.
struct Two {
#if THRESHER_GNU
  using Both = double __attribute__((vector_size(16)));
  Both both = {0, 0};

  Two() = default;
  Two(double a, double b) : both{a, b} {}
  explicit Two(Both b) : both(b) {}
  double first() const { return both[0]; }
  double second() const { return both[1]; }
  friend Two operator+(Two a, Two b) { return Two(a.both + b.both); }
  friend Two operator-(Two a, Two b) { return Two(a.both - b.both); }
  friend Two operator*(Two a, Two b) { return Two(a.both * b.both); }
  friend Two operator/(Two a, Two b) { return Two(a.both / b.both); }
  Two operator-() const { return Two(-both); }
  /// As std::max and std::min: a if the numbers are equal or one is NaN.
  friend Two larger(Two a, Two b) { return Two(a.both < b.both ? b.both : a.both); }
  friend Two smaller(Two a, Two b) { return Two(b.both < a.both ? b.both : a.both); }
#else
  double both[2] = {0, 0};

  Two() = default;
  Two(double a, double b) : both{a, b} {}
  double first() const { return both[0]; }
  double second() const { return both[1]; }
  friend Two operator+(Two a, Two b) { return {a.first() + b.first(), a.second() + b.second()}; }
  friend Two operator-(Two a, Two b) { return {a.first() - b.first(), a.second() - b.second()}; }
  friend Two operator*(Two a, Two b) { return {a.first() * b.first(), a.second() * b.second()}; }
  friend Two operator/(Two a, Two b) { return {a.first() / b.first(), a.second() / b.second()}; }
  Two operator-() const { return {-first(), -second()}; }
  /// As std::max and std::min: a if the numbers are equal or one is NaN.
  friend Two larger(Two a, Two b) {
    return {a.first() < b.first() ? b.first() : a.first(), a.second() < b.second() ? b.second() : a.second()};
  }
  friend Two smaller(Two a, Two b) {
    return {b.first() < a.first() ? b.first() : a.first(), b.second() < a.second() ? b.second() : a.second()};
  }
#endif
  explicit Two(double each) : Two(each, each) {}
  /// Loads two adjacent numbers.
  static Two at(const double* p) {
    Two two;
    std::memcpy(&two.both, p, sizeof two.both);
    return two;
  }
  void put(double* p) const { std::memcpy(p, &both, sizeof both); }
  Two& operator+=(Two other) { return *this = *this + other; }
};

inline double larger(double a, double b) { return a < b ? b : a; }

/// The number of zeros below the lowest bit that is set. The number must not be 0.
THRESHER_INLINE int trailing_zeros(std::uint64_t number) {
#if THRESHER_GNU
  return __builtin_ctzll(number);
#else
  int n = 0;
  for (; !(number & 1); number >>= 1) ++n;
  return n;
#endif
}

/// The number of zeros above the highest bit that is set. The number must not be 0.
THRESHER_INLINE int leading_zeros(std::uint64_t number) {
#if THRESHER_GNU
  return __builtin_clzll(number);
#else
  int n = 0;
  for (; !(number >> 63); number <<= 1) ++n;
  return n;
#endif
}

/// The upper 64 bits of a * b.
THRESHER_INLINE std::uint64_t upper_product(std::uint64_t a, std::uint64_t b) {
#if THRESHER_INT128
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(a) * b) >> 64);
#else
  constexpr std::uint64_t low = 0xffffffffu;
  const std::uint64_t first = (a & low) * (b & low), cross = (a >> 32) * (b & low) + (first >> 32);
  const std::uint64_t other = (a & low) * (b >> 32) + (cross & low);
  return (a >> 32) * (b >> 32) + (cross >> 32) + (other >> 32);
#endif
}

/// number * 2^63 / divisor, rounded down. Both must have their highest bit set, so the result fits 64 bits.
THRESHER_INLINE std::uint64_t shifted_quotient(std::uint64_t number, std::uint64_t divisor) {
#if THRESHER_INT128
  __extension__ using Wide = unsigned __int128;
  return static_cast<std::uint64_t>((static_cast<Wide>(number) << 63) / divisor);
#else
  std::uint64_t quotient = number >= divisor, rest = quotient ? number - divisor : number;  // long division, bit by bit
  for (int i = 0; i < 63; ++i) {
    const bool over = rest >> 63;
    rest <<= 1;
    const bool fits = over || rest >= divisor;
    if (fits) rest -= divisor;
    quotient = quotient << 1 | static_cast<std::uint64_t>(fits);
  }
  return quotient;
#endif
}

}  // namespace thresher
