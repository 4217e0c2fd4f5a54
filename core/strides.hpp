// Applies the overdue steps of a lazy weight in a bounded number of strides, however many steps they are.
#pragma once
#include <algorithm>
#include <cmath>

namespace thresher {

/// How many overdue steps to take at once when `done` are done and `left` remain: one by one at first, then 1/512 of those done.
/// n steps take 16384 + 512 log(n / 16384) strides, so even huge numbers of steps take little time.
inline double stride(double done, double left) { return done < 16384 ? 1 : std::min(left, std::floor(done / 512)); }

/// The sum of eta0 / sqrt(s) over the n steps after step t: for strides, the integral between the midpoints, accurate to about
/// 1e-7.
inline double length_of_steps(double eta0, double t, double n) {
  return n == 1 ? eta0 / std::sqrt(t + 1) : 2 * n * eta0 / (std::sqrt(t + n + 0.5) + std::sqrt(t + 0.5));
}

}  // namespace thresher
