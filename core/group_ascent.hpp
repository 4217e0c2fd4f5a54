// Dual coordinate ascent for a confidence-weighted batch with a group penalty, in whitened coordinates.
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "group_rows.hpp"
#include "watch.hpp"

namespace thresher {

/// S in the gradient of the conjugate of sigma |w|^2 / 2 + (sum_k |w_k|)^2 / 2 at z, from the norms |z_k|: the norm of every
/// group is reduced by S, then divided by sigma. S also equals the sum of the norms |w_k|. `order` lists the groups by decreasing
/// norm.
inline double group_cut(const std::vector<double>& lengths, const std::vector<index_t>& order, double sigma) {
  double sum = 0, rank = 0;
  for (const index_t k : order) {
    const double more = sum + lengths[k], next = rank + 1;
    if (!(lengths[k] * (sigma + next) > more)) break;
    sum = more, rank = next;
  }
  return sum / (sigma + rank);
}

/// min_w Omega(w - w0) + (C / q) sum_i D_i max(0, 1 - y_i <w, x_i>)^q,  Omega(w) = sigma |w|^2 / 2 + (sum_k |w_k|)^2 / 2,
/// where the first `free` columns are not in Omega but have the penalty |w|^2 / 2. In the dual, each row has one a_i, in [0, D_i]
/// (q = 1) or at least 0 (q = 2):
///
///     z = C sum_i a_i y_i x_i,     w = w0 + grad Omega*(z),     slope in a_i: C (1 - y_i <w, x_i> - (q - 1) a_i / D_i)
///
/// One coordinate at a time. `corrected` takes C |x|^2 for the curvature of Omega*, which ascends if sigma >= 1. `safe` divides
/// it by sigma and always ascends. `exact` finds the zero of the slope, which decreases in a_i, by bisection. A row costs its
/// columns, and one loop over all groups if it changes the norm of any: w is stored as z and the cut, and computed where a row
/// has values. Tan et al. 2016, Algorithm 3; Liu et al. 2019, Algorithm 1. `ridge` is q - 1; the papers print the constant 0.5.
struct GroupAscent {
  enum class Step { corrected, safe, exact };

  const GroupRows& rows;
  const double *y, *cost, *w0;
  double *a, *z, *w;
  double C, sigma, ridge;
  Step step;
  std::vector<double> lengths = {}, moved = {}, squares = {}, products = {}, own = {};
  std::vector<index_t> order = {};  // groups by decreasing norm
  double cut = 0;

  using Walk = GroupRows::Walk;

  /// One pass in row order. Returns the norm of the largest change of z by one row.
  double pass() {
    const index_t n_groups = rows.n_groups(), free = rows.free;
    for (auto* each : {&lengths, &moved, &squares, &products, &own}) each->resize(n_groups);
    order.resize(n_groups);
    for (index_t k = 0; k < n_groups; ++k) order[k] = k;
    for (index_t k = 0; k < n_groups; ++k) lengths[k] = length(k);
    cut = cut_of(lengths);
    double largest = 0;
    Watch watch;
    Walk row(rows);
    for (index_t i = 0; i < rows.n_rows; ++i) {
      watch.tick();
      row.step();
      if (cost[i] <= 0) continue;
      const double* const x = row.fixed();
      double outside = 0, inside = 0, score = 0;
      for (index_t j = 0; j < free; ++j) {
        outside += x[j] * x[j];
        score += (w0[j] + z[j]) * x[j];
      }
      for (const auto& [k, values] : row) {
        const double kept = part_kept(lengths[k], cut);
        const double* v = values;
        for (index_t j = rows.begin(k); j < rows.end(k); ++j, ++v) {
          inside += *v * *v;
          score += (w0[j] + kept * z[j]) * *v;
        }
      }
      if (outside + inside == 0) {  // the slack is 1 for any weights
        a[i] = cost[i];
        continue;
      }
      const double before = a[i], slack = 1 - y[i] * score;
      a[i] = step == Step::exact ? before + exact_change(row, i, slack, outside) : closed_form(i, slack, outside, inside);
      const double change = C * (a[i] - before) * y[i];
      if (change == 0) continue;
      for (index_t j = 0; j < free; ++j) z[j] += change * x[j];
      for (const auto& [k, values] : row) {
        const double* v = values;
        for (index_t j = rows.begin(k); j < rows.end(k); ++j, ++v) z[j] += change * *v;
        lengths[k] = length(k);
      }
      if (!row.empty()) cut = cut_of(lengths);
      largest = std::max(largest, change * change * (outside + inside));
    }
    point();
    return std::sqrt(largest);
  }

  /// The primal objective at w and the dual objective at a, after a pass.
  Two values() const {
    const index_t free = rows.free;
    double losses = 0, gain = 0, paid = 0, conjugate = 0, sum = 0;
    Walk row(rows);
    for (index_t i = 0; i < rows.n_rows; ++i) {
      row.step();
      if (cost[i] <= 0) continue;
      double score = 0;
      for (index_t j = 0; j < free; ++j) score += w[j] * row.fixed()[j];
      for (const auto& [k, values] : row) {
        const double* v = values;
        for (index_t j = rows.begin(k); j < rows.end(k); ++j, ++v) score += w[j] * *v;
      }
      const double slack = std::max(0.0, 1 - y[i] * score);
      losses += cost[i] * (boxed() ? slack : 0.5 * slack * slack);
      gain += a[i] - (boxed() ? 0 : 0.5 * a[i] * a[i] / cost[i]);
    }
    for (index_t j = 0; j < free; ++j) {
      paid += 0.5 * (w[j] - w0[j]) * (w[j] - w0[j]);
      conjugate += z[j] * (0.5 * z[j] + w0[j]);
    }
    for (index_t k = 0; k < rows.n_groups(); ++k) {
      const double kept = part_kept(lengths[k], cut);
      double square = 0;
      for (index_t j = rows.begin(k); j < rows.end(k); ++j) {
        square += (w[j] - w0[j]) * (w[j] - w0[j]);
        conjugate += z[j] * (0.5 * kept * z[j] + w0[j]);
      }
      paid += 0.5 * sigma * square;
      sum += std::sqrt(square);
    }
    return {paid + 0.5 * sum * sum + C * losses, C * gain - conjugate};
  }

 private:
  bool boxed() const { return ridge == 0; }

  static double dot(const double* u, const double* v, index_t n) {
    double sum = 0;
    for (index_t j = 0; j < n; ++j) sum += u[j] * v[j];
    return sum;
  }
  double part_kept(double length, double least) const { return length > least ? (length - least) / (sigma * length) : 0; }
  double length(index_t k) const { return std::sqrt(dot(z + rows.begin(k), z + rows.begin(k), rows.end(k) - rows.begin(k))); }

  /// Sorts `order`, then computes the cut. Insertion sort as long as few moves are needed, which is the usual case.
  double cut_of(const std::vector<double>& by) {
    const index_t n_groups = rows.n_groups();
    index_t moves = 0;
    for (index_t i = 1; i < n_groups && moves <= 8 * n_groups; ++i)
      for (index_t j = i; j > 0 && by[order[j - 1]] < by[order[j]]; --j, ++moves) std::swap(order[j - 1], order[j]);
    if (moves > 8 * n_groups) std::sort(order.begin(), order.end(), [&](index_t k, index_t l) { return by[k] > by[l]; });
    return group_cut(by, order, sigma);
  }

  /// Computes w from z.
  void point() {
    for (index_t j = 0; j < rows.free; ++j) w[j] = w0[j] + z[j];
    for (index_t k = 0; k < rows.n_groups(); ++k) {
      const double kept = part_kept(lengths[k], cut);
      for (index_t j = rows.begin(k); j < rows.end(k); ++j) w[j] = w0[j] + kept * z[j];
    }
  }

  double closed_form(index_t i, double slack, double outside, double inside) const {
    const double curve = C * (outside + (step == Step::safe ? inside / sigma : inside)), own_curve = ridge / cost[i];
    const double next = a[i] + (slack - own_curve * a[i]) / (curve + own_curve);
    return std::max(0.0, boxed() ? std::min(next, cost[i]) : next);
  }

  /// The slope is 1 - y <w(z + d u), x> - ridge (a_i + d) / D_i with u = C y x, which needs only three numbers per group.
  double exact_change(const Walk& row, index_t i, double slack, double outside) {
    double fixed = slack;  // without the part that depends on the groups of z
    for (index_t k = 0; k < rows.n_groups(); ++k) {
      squares[k] = dot(z + rows.begin(k), z + rows.begin(k), rows.end(k) - rows.begin(k));
      products[k] = own[k] = 0;
    }
    for (const auto& [k, x] : row) {
      const index_t width = rows.end(k) - rows.begin(k);
      products[k] = C * y[i] * dot(z + rows.begin(k), x, width);
      own[k] = C * C * dot(x, x, width);
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
    const index_t n_groups = rows.n_groups();
    for (index_t k = 0; k < n_groups; ++k) moved[k] = std::sqrt(std::max(0.0, squares[k] + d * (2 * products[k] + d * own[k])));
    const double least = cut_of(moved);
    double sum = 0;
    for (index_t k = 0; k < n_groups; ++k) sum += part_kept(moved[k], least) * (products[k] + d * own[k]);
    return sum / C;
  }
};

}  // namespace thresher
