// Steps that a lazy weight is owed, made up for in a bounded number of strides, however many they are.
#pragma once
#include <algorithm>
#include <cmath>

namespace thresher {

/// How many owed steps to make at once when `done` of them are made and `left` are not: one by one at first, then 1/512 of those
/// done. n steps take 16384 + 512 log(n / 16384) strides, so any number of steps is made up for quickly.
inline double stride(double done, double left) { return done < 16384 ? 1 : std::min(left, std::floor(done / 512)); }

/// The sum of eta0 / sqrt(s) over the n steps after step t: the integral between the middles of steps, to about 1e-7 for strides.
inline double length_of_steps(double eta0, double t, double n) {
  return n == 1 ? eta0 / std::sqrt(t + 1) : 2 * n * eta0 / (std::sqrt(t + n + 0.5) + std::sqrt(t + 0.5));
}

}  // namespace thresher
