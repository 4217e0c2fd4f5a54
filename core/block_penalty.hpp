// Blocks of weights, and the penalty of a block: a norm, and within it an l1 norm.
//
//     Omega(w) = sum_b  weight_b |w_b|_p + l1 |w_b|_1 + (l2 / 2) |w_b|^2
//
// A weight belongs to one column of one task. The lasso has blocks of one weight, the group lasso blocks of columns, multi-task
// learning blocks of a column's weights in all tasks.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>

#include "rows.hpp"
#include "shrink.hpp"

namespace thresher {

struct Blocks {
  const index_t* starts;  // members starts[b] ... starts[b + 1] - 1 are those of block b
  const std::int32_t* task;
  const index_t* column;
  index_t n_blocks, n_tasks;
  bool across;  // the members of a block belong to different tasks, so no row has two of them

  index_t size(index_t b) const { return starts[b + 1] - starts[b]; }
  index_t n_weights() const { return starts[n_blocks]; }
};

struct BlockPenalty {
  const double* weight;  // of each block
  double l1, l2;
  double norm = 2;  // p, above 1; may be infinite

  double value(index_t b, const double* w, index_t n) const {
    double sum = 0, square = 0;
    for (index_t k = 0; k < n; ++k) sum += std::fabs(w[k]), square += w[k] * w[k];
    const double size = n == 1 ? sum : norm == 2 ? std::sqrt(square) : power_norm(w, n, norm);
    return weight[b] * size + l1 * sum + l2 / 2 * square;
  }
  /// The directional derivative along x, where weights that are 0 stay 0.
  double slope(index_t b, const double* w, const double* x, index_t n) const {
    double along = 0, straight = 0, square = 0;
    for (index_t k = 0; k < n; ++k) {
      along += w[k] > 0 ? x[k] : w[k] < 0 ? -x[k] : 0;
      straight += w[k] * x[k], square += w[k] * w[k];
    }
    double of_norm = along;
    if (n > 1 && norm == 2) of_norm = square > 0 ? straight / std::sqrt(square) : 0;
    else if (n > 1) of_norm = power_slope(w, x, n);
    return weight[b] * of_norm + l1 * along + l2 * straight;
  }
  /// argmin_z |z - v|^2 / 2 + step (weight |z|_p + l1 |z|_1), in place: the l1 norm first, then the norm of what it left.
  void prox(index_t b, double* v, index_t n, double step) const {
    if (n == 1) {
      v[0] = soft_threshold(v[0], step * (weight[b] + l1));
      return;
    }
    for (index_t k = 0; k < n; ++k) v[k] = soft_threshold(v[k], step * l1);
    const auto at = [v](index_t k) { return v[k]; };
    const double cut = step * weight[b];
    if (norm == 2) {
      const double factor = row_factor(row_length(at, n), cut);
      for (index_t k = 0; k < n; ++k) v[k] *= factor;
    } else if (std::isinf(norm)) {
      const double level = row_level(at, n, cut);
      for (index_t k = 0; k < n; ++k) v[k] = std::max(-level, std::min(level, v[k]));
    } else {
      const double size = lp_size(at, n, cut, norm);
      for (index_t k = 0; k < n; ++k) v[k] = lp_entry(v[k], size, cut, norm);
    }
  }
  /// The dual norm of soft(g, s l1): a block at 0 stays there while this is at most s weight, for s = 1.
  double excess(const double* g, index_t n, double s) const {
    const auto left = [=](index_t k) { return std::max(std::fabs(g[k]) - s * l1, 0.0); };
    if (n == 1 || norm == 2) return row_length(left, n);
    double largest = 0, sum = 0;
    for (index_t k = 0; k < n; ++k) largest = std::max(largest, left(k));
    if (largest == 0) return 0;
    for (index_t k = 0; k < n; ++k) sum += std::pow(left(k) / largest, dual());
    return largest * std::pow(sum, 1 / dual());
  }
  /// The smallest s of at least `least` for which g is a subgradient of s Omega at 0, without l2: Newton's method from below,
  /// since the excess is convex and decreasing in s.
  double polar(index_t b, const double* g, index_t n, double least) const {
    double s = least;
    for (int i = 0; i < 1000; ++i) {
      const double beyond = excess(g, n, s);
      if (beyond <= s * weight[b]) break;
      double fall = 0;
      for (index_t k = 0; k < n; ++k) {
        const double c = std::max(std::fabs(g[k]) - s * l1, 0.0);
        if (c > 0) fall += norm == 2 ? c / beyond : std::pow(c / beyond, dual() - 1);
      }
      const double next = s + (beyond - s * weight[b]) / (weight[b] + l1 * fall);
      if (!(next > s)) break;
      s = next;
    }
    return s;
  }
  /// The dual norm of a block of n numbers is at most this times their length.
  double widest(index_t n) const { return std::pow(static_cast<double>(n), std::max(0.0, 1 / dual() - 0.5)); }

 private:
  /// q with 1 / p + 1 / q = 1
  double dual() const { return std::isinf(norm) ? 1 : norm / (norm - 1); }
  double power_slope(const double* w, const double* x, index_t n) const {
    const double size = power_norm(w, n, norm);
    double sum = 0;
    for (index_t k = 0; k < n && size > 0; ++k) {
      const double along = w[k] > 0 ? x[k] : -x[k], part = std::fabs(w[k]) / size;
      if (!std::isinf(norm)) sum += std::pow(part, norm - 1) * along;
      else if (part == 1) return along;
    }
    return sum;
  }
  static double power_norm(const double* w, index_t n, double p) {
    double largest = 0, sum = 0;
    for (index_t k = 0; k < n; ++k) largest = std::max(largest, std::fabs(w[k]));
    if (largest == 0 || std::isinf(p)) return largest;
    for (index_t k = 0; k < n; ++k) sum += std::pow(std::fabs(w[k]) / largest, p);
    return largest * std::pow(sum, 1 / p);
  }
};

}  // namespace thresher
