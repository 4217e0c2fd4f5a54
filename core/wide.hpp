// Loops that the compiler makes twice, for any machine and for AVX2, with the same bits: no operation is fused or reordered.
#pragma once
#include <cstdlib>  // tells whether this is glibc, which finds the better of the two when a program starts

#if defined(__GLIBC__) && defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__)
#define THRESHER_WIDE __attribute__((target_clones("avx2", "default")))
#else
#define THRESHER_WIDE
#endif

// Before a loop over arrays that do not overlap.
#if defined(__clang__)
#define THRESHER_NO_OVERLAP _Pragma("clang loop vectorize(assume_safety)")
#elif defined(__GNUC__)
#define THRESHER_NO_OVERLAP _Pragma("GCC ivdep")
#else
#define THRESHER_NO_OVERLAP
#endif
