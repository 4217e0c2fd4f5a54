// Dual coordinate descent on rows: box-constrained kernel problems whose kernel is the inner product.
#pragma once
#include <algorithm>
#include <cmath>

#include "rows.hpp"
#include "shrink.hpp"
#include "watch.hpp"

namespace thresher {

/// min_x  |w|^2 / 2 - <p, x> + sum_i e_i |x_i|,  w = sum_i x_i row_i,  lower <= x <= upper
///
/// One x_i at a time is minimised exactly, and w is kept up to date: O(non-zeros) per pass. Hsieh et al. 2008.
struct BoxDescent {
  const double *squares, *linear, *lower, *upper, *epsilon;  // squares of rows, above 0
  double *x, *w, *slack;

  /// Visits rows in an order. slack[i] becomes the distance of row i from its optimum, as a change of its score.
  template <class Rows>
  void pass(const Rows& rows, double bias, const index_t* order, index_t n_steps) {
    Watch watch;
    for (index_t t = 0; t < n_steps; ++t) {
      watch.tick();
      const index_t i = order[t];
      const auto row = rows.row(i, bias);
      const double q = squares[i];
      const double wanted = soft_threshold(x[i] - (row.dot(w) - linear[i]) / q, epsilon[i] / q);
      const double next = std::min(upper[i], std::max(lower[i], wanted)), change = next - x[i];
      slack[i] = std::fabs(change) * q;
      if (change == 0) continue;
      x[i] = next;
      row.each([&](index_t j, double xj) { w[j] += change * xj; });
    }
  }
};

}  // namespace thresher
