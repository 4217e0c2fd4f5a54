// Running count, mean and sum of squared deviations of each column, value by value:
//
//     n <- n + 1,   d = x - mean,   mean <- mean + d / n,   m2 <- m2 + d (x - mean)          Welford, Technometrics 4 (1962)
//
// Stable for values far from 0, and the same bits for any division of rows into batches. NaN is a missing value.
#pragma once

#include <cmath>

#include "scan.hpp"

namespace thresher {

struct Moments {
  double *n, *mean, *m2, *missing;

  void add(index_t j, double x) {
    if (std::isnan(x)) {
      missing[j] += 1;
      return;
    }
    n[j] += 1;
    const double d = x - mean[j];
    mean[j] += d / n[j];
    m2[j] += d * (x - mean[j]);
  }
};

/// The first value that is neither missing nor within the accepted range, if there is one.
template <class AllRows> Finding scan_for_moments(const AllRows& rows) {
  Finding found;
  for (index_t i = 0; i < rows.n_rows && found.fault == Fault::none; ++i)
    rows.row(i, 0).each([&](index_t j, double x) {
      if (!usable(x) && !std::isnan(x) && found.fault == Fault::none) found = {Fault::value, i, j, x};
    });
  return found;
}

template <class AllRows> void add_moments(const AllRows& rows, Moments moments) {
  for (index_t i = 0; i < rows.n_rows; ++i) rows.row(i, 0).each([&](index_t j, double x) { moments.add(j, x); });
}

/// Adds the logarithms of the squared lengths of some rows, one by one, and counts them; rows of zeros have none.
template <class AllRows>
void measure_lengths(const AllRows& rows, const index_t* part, index_t n, double& sum, double& count) {
  for (index_t k = 0; k < n; ++k) {
    double square = 0;
    rows.row(part[k], 0).each([&](index_t, double x) { square += x * x; });
    if (square > 0) {
      sum += std::log(square);
      ++count;
    }
  }
}

}  // namespace thresher
