// Loops that the compiler builds twice, for any machine and for AVX2, with the same bits: no operation is fused or reordered.
#pragma once
#include <cstdlib>  // defines __GLIBC__ if this is glibc, which chooses between the two at program start

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
