// Proximal maps of penalties on single weights and on groups of weights.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>

#include "compiler.hpp"

namespace thresher {

/// argmin_w (w - v)^2 / 2 + cut |w|, for cut >= 0. Written without branches: the inner loop of every l1 learner.
inline double soft_threshold(double v, double cut) { return v - std::min(std::max(v, -cut), cut); }

inline Two soft_threshold(Two v, Two cut) { return v - smaller(larger(v, -cut), cut); }

/// argmin_w |w - v|^2 / 2 + cut |w|_2  is this factor times v, where v has this length. It is 0 if the length is at most `cut`.
/// Written without branches.
inline double row_factor(double length, double cut) {
  return 1 - cut / std::max(length, std::max(cut, std::numeric_limits<double>::min()));
}

/// The length of (at(0), ..., at(n - 1)), from four partial sums. Trailing zeros do not change its bits.
template <class At>
THRESHER_INLINE double row_length(At at, std::int64_t n) {
  double acc[4] = {0, 0, 0, 0};
  std::int64_t q = 0;
  for (; q + 4 <= n; q += 4)
    for (int i = 0; i < 4; ++i) acc[i] += at(q + i) * at(q + i);
  for (; q < n; ++q) acc[q & 3] += at(q) * at(q);
  const double length = std::sqrt((acc[0] + acc[1]) + (acc[2] + acc[3]));
  if (std::isfinite(length)) return length;
  double largest = 0, sum = 0;  // the squares overflow, but perhaps not the length
  for (q = 0; q < n; ++q) largest = std::max(largest, std::fabs(at(q)));
  for (q = 0; q < n; ++q) sum += (at(q) / largest) * (at(q) / largest);
  return largest * std::sqrt(sum);
}

/// argmin_w |w - v|^2 / 2 + cut max|w|  caps the entries of v at this level. The parts above it sum to `cut`.
/// Each sweep raises the level and leaves out the entries below it, without sorting or memory.
template <class At>
double row_level(At at, std::int64_t n, double cut) {
  double level = 0, before = -1;
  while (level > before) {
    double sum = 0, above = 0;
    for (std::int64_t q = 0; q < n; ++q) {
      const double size = std::fabs(at(q));
      if (size > level) {
        sum += size;
        ++above;
      }
    }
    before = level;
    if (above > 0) level = std::max(level, (sum - cut) / above);
  }
  return level;
}

/// The x >= 0 with  linear x + steep x^power = c  for power >= 1, by Newton's method from the right: the curve is convex.
inline double power_root(double linear, double steep, double power, double c) {
  if (c <= 0) return 0;
  double x = std::pow(c / steep, 1 / power);
  if (linear > 0) x = std::min(x, c / linear);
  for (int i = 0; i < 100; ++i) {
    const double rise = steep * std::pow(x, power);
    const double next = x - (linear * x + rise - c) / (linear + power * rise / x);
    if (!(next < x) || next <= 0) break;
    x = next;
  }
  return x;
}

/// One entry of  argmin_w |w - v|^2 / 2 + cut |w|_p,  1 < p < inf, when |w|_p = size:  w + cut (w / size)^(p - 1) = |v|.
/// z = w / size solves a power equation in z, or in z^(p - 1) if that form is convex.
inline double lp_share(double v, double size, double cut, double p) {
  if (p >= 2) return power_root(size, cut, p - 1, std::fabs(v));
  return std::pow(power_root(cut, size, 1 / (p - 1), std::fabs(v)), 1 / (p - 1));
}
inline double lp_entry(double v, double size, double cut, double p) {
  return size > 0 ? std::copysign(size * lp_share(v, size, cut, p), v) : 0;
}

/// |w|_p of this minimiser: 0 if the dual norm of v is at most `cut`, else the size at which the shares have p-norm 1.
template <class At>
double lp_size(At at, std::int64_t n, double cut, double p) {
  double largest = 0, dual = 0, norm = 0;
  for (std::int64_t q = 0; q < n; ++q) largest = std::max(largest, std::fabs(at(q)));
  if (largest <= 0) return 0;
  const double c = cut / largest;  // powers of entries up to 1 do not overflow
  for (std::int64_t q = 0; q < n; ++q) {
    const double v = std::fabs(at(q)) / largest;
    dual += std::pow(v, p / (p - 1));
    norm += std::pow(v, p);
  }
  if (c <= 0) return largest * std::pow(norm, 1 / p);
  if (std::pow(dual, (p - 1) / p) <= c) return 0;
  double low = 0, high = std::pow(norm, 1 / p), size = high;
  for (int i = 0; i < 200 && high - low > 2e-16 * high; ++i) {
    double total = 0, slope = 0;  // of sum z^p, which falls as the size grows
    for (std::int64_t q = 0; q < n; ++q) {
      const double z = lp_share(at(q) / largest, size, c, p);
      if (z <= 0) continue;
      total += std::pow(z, p);
      slope -= p * std::pow(z, p) / (size + c * (p - 1) * std::pow(z, p - 2));
    }
    (total > 1 ? low : high) = size;
    const double next = size - (total - 1) / slope;
    const double chosen = next > low && next < high ? next : low + (high - low) / 2;
    if (chosen == size) break;
    size = chosen;
  }
  return size * largest;
}

/// The shrinkage of the members of a group:  v -> sign(v) min(factor [|v| - cut]+, level).
///
/// Proximal steps of an l1 norm plus a Euclidean or maximum norm have this form, and so has any sequence of them. Three numbers
/// therefore describe the shrinkage of every member.
struct Shrinkage {
  double cut = 0, factor = 1, level = std::numeric_limits<double>::infinity();

  static Shrinkage to_zero() { return {0, 0, 0}; }
  bool is_zero() const { return factor == 0 || level == 0; }
  /// This shrinkage followed by another.
  Shrinkage then(const Shrinkage& next) const {
    return {cut + next.cut / factor, factor * next.factor, std::min(next.factor * std::max(level - next.cut, 0.0), next.level)};
  }
  double operator()(double v) const { return std::copysign(std::min(factor * std::max(std::fabs(v) - cut, 0.0), level), v); }
};

/// argmin_w |w - v|^2 / 2 + l1 |w|_1 + penalty |w|_2  =  [1 - penalty / |c|]+ c,  c = soft(v, l1).   Yang (2011), eq. 3.12-3.13.
template <class Value>
Shrinkage shrink_length(std::int64_t n, Value v, double l1, double penalty) {
  const double factor = row_factor(row_length([&](std::int64_t k) { return std::max(std::fabs(v(k)) - l1, 0.0); }, n), penalty);
  return factor > 0 ? Shrinkage{l1, factor} : Shrinkage::to_zero();
}

/// argmin_w |w - v|^2 / 2 + l1 |w|_1 + penalty max|w|  =  sign(c) min(|c|, level),  where  sum [|c| - level]+ = penalty.
template <class Value>
Shrinkage shrink_level(std::int64_t n, Value v, double l1, double penalty) {
  return {l1, 1, row_level([&](std::int64_t k) { return std::max(std::fabs(v(k)) - l1, 0.0); }, n, penalty)};
}

}  // namespace thresher
