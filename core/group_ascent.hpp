// Dual coordinate ascent for a confidence-weighted batch whose weights pay by groups, in whitened coordinates.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "rows.hpp"
#include "watch.hpp"

namespace thresher {

/// S of the gradient of the conjugate of sigma |w|^2 / 2 + (sum_k |w_k|)^2 / 2 at z, from the lengths |z_k|: what every group
/// loses of its length before the rest is divided by sigma. It is the sum of the lengths |w_k|, too. `order` lists the groups, the
/// longest first.
inline double group_cut(const std::vector<double>& lengths, const std::vector<index_t>& order, double sigma) {
  double sum = 0, cut = 0, rank = 0;
  for (const index_t k : order) {
    sum += lengths[k], ++rank;
    if (!(lengths[k] * (sigma + rank) > sum)) break;
    cut = sum / (sigma + rank);
  }
  return cut;
}

/// min_w Omega(w - w0) + (C / q) sum_i D_i max(0, 1 - y_i <w, x_i>)^q,  Omega(w) = sigma |w|^2 / 2 + (sum_k |w_k|)^2 / 2,
/// where the first `free` columns stand outside Omega and pay |w|^2 / 2. In the dual, one a_i in [0, D_i] (q = 1) or of at
/// least 0 (q = 2) for each row:
///
///     z = C sum_i a_i y_i x_i,     w = w0 + grad Omega*(z),     slope in a_i: C (1 - y_i <w, x_i> - (q - 1) a_i / D_i)
///
/// One coordinate at a time. `corrected` takes C |x|^2 for the curvature of Omega*, an ascent for sigma >= 1; `safe` divides it by
/// sigma, an ascent always; `exact` finds the zero of the slope, which falls with a_i, by bisection. A row costs its columns, and
/// one look at all groups if it changes the length of any: w is kept as z and the cut, and made where a row has values.
/// Tan et al. 2016, Algorithm 3; Liu et al. 2019, Algorithm 1. `ridge` is q - 1; 0.5 is the constant that they print.
struct GroupAscent {
  enum class Step { corrected, safe, exact };

  const double *y, *cost, *w0;
  double *a, *z, *w;
  double C, sigma, ridge;
  Step step;
  index_t free, n_groups;
  const index_t* ends;  // of the columns of each group; the first begins behind the free ones
  std::vector<double> lengths = {}, moved = {}, squares = {}, products = {}, own = {};
  std::vector<index_t> order = {}, met = {};  // groups, the longest first; those in which a row has a value
  double cut = 0;

  /// One pass in row order; the largest change of z that one row made, by its length.
  double pass(const double* X, index_t n_rows, index_t stride) {
    for (auto* each : {&lengths, &moved, &squares, &products, &own}) each->resize(n_groups);
    order.resize(n_groups);
    for (index_t k = 0; k < n_groups; ++k) order[k] = k;
    for (index_t k = 0; k < n_groups; ++k) lengths[k] = length(k);
    cut = cut_of(lengths);
    double largest = 0;
    Watch watch;
    for (index_t i = 0; i < n_rows; ++i) {
      watch.tick();
      if (cost[i] <= 0) continue;
      const double* x = X + i * stride;
      meet(x);
      const double outside = dot(x, x, 0, free);
      double inside = 0, score = 0;
      for (index_t j = 0; j < free; ++j) score += (w0[j] + z[j]) * x[j];
      for (const index_t k : met) {
        const double kept = part_kept(lengths[k], cut);
        for (index_t j = begin(k); j < ends[k]; ++j) {
          inside += x[j] * x[j];
          score += (w0[j] + kept * z[j]) * x[j];
        }
      }
      if (outside + inside == 0) {  // its slack is 1 whatever the weights are
        a[i] = cost[i];
        continue;
      }
      const double before = a[i], slack = 1 - y[i] * score;
      a[i] = step == Step::exact ? before + exact_change(x, i, slack, outside) : closed_form(i, slack, outside, inside);
      const double change = C * (a[i] - before) * y[i];
      if (change == 0) continue;
      for (index_t j = 0; j < free; ++j) z[j] += change * x[j];
      for (const index_t k : met) {
        for (index_t j = begin(k); j < ends[k]; ++j) z[j] += change * x[j];
        lengths[k] = length(k);
      }
      if (!met.empty()) cut = cut_of(lengths);
      largest = std::max(largest, std::fabs(change) * std::sqrt(outside + inside));
    }
    point();
    return largest;
  }

  /// The objective at w and that of the dual at a, after a pass.
  Two values(const double* X, index_t n_rows, index_t stride) const {
    double losses = 0, gain = 0, paid = 0, conjugate = 0, sum = 0;
    for (index_t i = 0; i < n_rows; ++i) {
      if (cost[i] <= 0) continue;
      const double slack = std::max(0.0, 1 - y[i] * DenseRow<double>{X + i * stride, width(), 0}.dot(w));
      losses += cost[i] * (boxed() ? slack : 0.5 * slack * slack);
      gain += a[i] - (boxed() ? 0 : 0.5 * a[i] * a[i] / cost[i]);
    }
    for (index_t j = 0; j < free; ++j) {
      paid += 0.5 * (w[j] - w0[j]) * (w[j] - w0[j]);
      conjugate += z[j] * (0.5 * z[j] + w0[j]);
    }
    for (index_t k = 0; k < n_groups; ++k) {
      const double kept = part_kept(lengths[k], cut);
      double square = 0;
      for (index_t j = begin(k); j < ends[k]; ++j) {
        square += (w[j] - w0[j]) * (w[j] - w0[j]);
        conjugate += z[j] * (0.5 * kept * z[j] + w0[j]);
      }
      paid += 0.5 * sigma * square;
      sum += std::sqrt(square);
    }
    return {paid + 0.5 * sum * sum + C * losses, C * gain - conjugate};
  }

 private:
  index_t width() const { return n_groups ? ends[n_groups - 1] : free; }
  index_t begin(index_t k) const { return k ? ends[k - 1] : free; }
  bool boxed() const { return ridge == 0; }

  static double dot(const double* u, const double* v, index_t from, index_t to) {
    double sum = 0;
    for (index_t j = from; j < to; ++j) sum += u[j] * v[j];
    return sum;
  }
  double part_kept(double length, double least) const { return length > least ? (length - least) / (sigma * length) : 0; }
  double length(index_t k) const { return std::sqrt(dot(z, z, begin(k), ends[k])); }

  /// The groups in which a row has a value: no other tells anything of it, or learns from it.
  void meet(const double* x) {
    met.clear();
    for (index_t k = 0; k < n_groups; ++k) {
      bool any = false;
      for (index_t j = begin(k); j < ends[k]; ++j) any |= x[j] != 0;
      if (any) met.push_back(k);
    }
  }

  /// Puts `order` right before the cut is made: step by step as long as it is nearly right, which it is as a rule.
  double cut_of(const std::vector<double>& by) {
    index_t moves = 0;
    for (index_t i = 1; i < n_groups && moves <= 8 * n_groups; ++i)
      for (index_t j = i; j > 0 && by[order[j - 1]] < by[order[j]]; --j, ++moves) std::swap(order[j - 1], order[j]);
    if (moves > 8 * n_groups) std::sort(order.begin(), order.end(), [&](index_t k, index_t l) { return by[k] > by[l]; });
    return group_cut(by, order, sigma);
  }

  /// w of z.
  void point() {
    for (index_t j = 0; j < free; ++j) w[j] = w0[j] + z[j];
    for (index_t k = 0; k < n_groups; ++k) {
      const double kept = part_kept(lengths[k], cut);
      for (index_t j = begin(k); j < ends[k]; ++j) w[j] = w0[j] + kept * z[j];
    }
  }

  double closed_form(index_t i, double slack, double outside, double inside) const {
    const double curve = C * (outside + (step == Step::safe ? inside / sigma : inside)), own_curve = ridge / cost[i];
    const double next = a[i] + (slack - own_curve * a[i]) / (curve + own_curve);
    return std::max(0.0, boxed() ? std::min(next, cost[i]) : next);
  }

  /// The slope is 1 - y <w(z + d u), x> - ridge (a_i + d) / D_i with u = C y x, which needs but three numbers of each group.
  double exact_change(const double* x, index_t i, double slack, double outside) {
    double fixed = slack;  // without what the groups make of z
    for (index_t k = 0; k < n_groups; ++k) {
      squares[k] = dot(z, z, begin(k), ends[k]);
      products[k] = C * y[i] * dot(z, x, begin(k), ends[k]);
      own[k] = C * C * dot(x, x, begin(k), ends[k]);
    }
    fixed += groups_at(0);
    const auto slope = [&](double d) { return fixed - d * C * outside - groups_at(d) - ridge * (a[i] + d) / cost[i]; };
    const double here = slope(0);
    if (here == 0) return 0;
    const double end = here < 0 ? -a[i] : boxed() ? cost[i] - a[i] : here * cost[i] / ridge;
    if (slope(end) * here >= 0) return end;
    double low = std::min(0.0, end), high = std::max(0.0, end);
    for (int halving = 0; halving < 64; ++halving) {
      const double middle = low + (high - low) / 2;
      if (middle <= low || middle >= high) break;
      (slope(middle) > 0 ? low : high) = middle;
    }
    return low + (high - low) / 2;
  }

  /// y <grad Omega*(z + d u), x>.
  double groups_at(double d) {
    for (index_t k = 0; k < n_groups; ++k) moved[k] = std::sqrt(std::max(0.0, squares[k] + d * (2 * products[k] + d * own[k])));
    const double least = cut_of(moved);
    double sum = 0;
    for (index_t k = 0; k < n_groups; ++k) sum += part_kept(moved[k], least) * (products[k] + d * own[k]);
    return sum / C;
  }
};

}  // namespace thresher
