// Quadratic splines of the columns of dense rows.
//
// A column with knots t_0 < ... < t_{m-1} gives x itself and the m + 1 quadratic B-splines B_0, ..., B_m over these knots. They
// sum to 1 and also span x. But with x itself, learners that shrink weights find straight lines, and with B_0 and B_m the ends of
// curves. On t_i <= x <= t_{i+1}, three of them are not 0,
//
//     B_i = (t_{i+1} - x)^2 / ((t_{i+1} - t_i) (t_{i+1} - t_{i-1})),   B_{i+2} = (x - t_i)^2 / ((t_{i+1} - t_i) (t_{i+2} - t_i)),
//     B_{i+1} = 1 - B_i - B_{i+2},   with t_{-1} = t_0 and t_m = t_{m-1}            de Boor, A Practical Guide to Splines, ch. IX
//
// and each continues along its tangent beyond the outer knots. A column without knots gives x alone.
#pragma once

#include <algorithm>
#include <cmath>

#include "scan.hpp"
#include "watch.hpp"

namespace thresher {

struct ColumnKnots {
  const double* knots;    // of all columns
  const index_t* starts;  // column j has the knots from starts[j] to starts[j + 1]

  index_t n(index_t j) const { return starts[j + 1] - starts[j]; }
  /// Number of features of a column: itself and its splines.
  index_t width(index_t j) const { return n(j) == 0 ? 1 : n(j) + 2; }
};

/// Adds B_0(x), ..., B_m(x) to out.
template <class T> void add_splines(double x, const double* t, index_t m, T* out) {
  if (x < t[0]) {
    const double beyond = 2 * (x - t[0]) / (t[1] - t[0]);
    out[0] += static_cast<T>(1 - beyond);
    out[1] += static_cast<T>(beyond);
    return;
  }
  if (x > t[m - 1]) {
    const double beyond = 2 * (x - t[m - 1]) / (t[m - 1] - t[m - 2]);
    out[m] += static_cast<T>(1 + beyond);
    out[m - 1] += static_cast<T>(-beyond);
    return;
  }
  index_t i = 0;
  for (index_t k = 1; k < m - 1; ++k) i += x >= t[k];
  const double h = t[i + 1] - t[i], before = t[i + 1] - t[std::max<index_t>(i - 1, 0)], after = t[std::min(i + 2, m - 1)] - t[i];
  const double left = (t[i + 1] - x) / h * ((t[i + 1] - x) / before), right = (x - t[i]) / h * ((x - t[i]) / after);
  out[i] += static_cast<T>(left);
  out[i + 1] += static_cast<T>(1 - left - right);
  out[i + 2] += static_cast<T>(right);
}

/// Writes for each column of each row x, and its splines less their means (one entry for each feature; that of x is not read). If
/// x is missing (NaN), it stays missing and the splines are at their means. Stops at a value outside the accepted range.
template <class T>
Finding spline_features(const T* rows, index_t n_rows, index_t n_columns, ColumnKnots columns, const double* means, T* out) {
  Watch watch;
  for (index_t i = 0; i < n_rows; ++i) {
    watch.tick();
    const double* mean = means;
    for (index_t j = 0; j < n_columns; ++j) {
      const double x = *rows++;
      const bool is_missing = std::isnan(x);
      if (!is_missing && !usable(x)) return {Fault::value, i, j, x};
      const index_t width = columns.width(j);
      out[0] = static_cast<T>(x);
      for (index_t k = 1; k < width; ++k) out[k] = is_missing ? T(0) : static_cast<T>(-mean[k]);
      if (width > 1 && !is_missing) add_splines(x, columns.knots + columns.starts[j], columns.n(j), out + 1);
      out += width;
      mean += width;
    }
  }
  return {};
}

}  // namespace thresher
