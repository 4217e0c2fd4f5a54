// Dual coordinate ascent for the mean of a confidence-weighted batch, in coordinates in which its covariance is the identity.
#pragma once
#include <algorithm>
#include <cmath>

#include "rows.hpp"
#include "watch.hpp"

namespace thresher {

/// min_w |w - w0|^2 / 2 + sum_i (c_i / q) max(0, 1 - y_i <w, x_i>)^q, c_i the cost of row i. In the dual, one a_i for each row:
///
///     w = w0 + sum_i a_i y_i x_i,     0 <= a_i <= c_i (q = 1)  |  0 <= a_i (q = 2)
///
/// One coordinate at a time is maximised exactly; rows of length 0 keep their a_i. One pass from a = 0 over a batch is BCW.
/// Tan et al. 2016, Algorithm 1, with 1 / C for the 0.5 / C of its squared hinge.
struct BoxAscent {
  const double *y, *cost;
  double *a, *w;
  bool squared;

  /// One pass in row order. Returns the norm of the largest change of w by one row.
  template <class Value>
  double pass(const DenseRows<Value>& rows) {
    double largest = 0;
    Watch watch;
    for (index_t i = 0; i < rows.n_rows; ++i) {
      watch.tick();
      if (cost[i] <= 0) continue;
      const auto x = rows.row(i, 0);
      const double v = x.square();
      if (v == 0) continue;
      const double slack = 1 - y[i] * x.dot(w);
      const double ridge = squared ? 1 / cost[i] : 0;
      double next = a[i] + (slack - ridge * a[i]) / (v + ridge);
      next = std::max(0.0, squared ? next : std::min(next, cost[i]));
      const double change = next - a[i];
      if (change == 0) continue;
      a[i] = next;
      x.each([&](index_t j, double xj) { w[j] += change * y[i] * xj; });
      largest = std::max(largest, std::fabs(change) * std::sqrt(v));
    }
    return largest;
  }
};

}  // namespace thresher
