// Dense rows in the units in which learners that tune themselves see them: columns centred and divided by their deviation.
#pragma once
#include <algorithm>

#include "rows.hpp"

namespace thresher {

/// Running mean, sum of squared deviations and number of values other than 0 of each column, over n rows.
struct Columns {
  double *mean, *m2, *count;
  double n;

  void add(const double* x, index_t n_features) {
    const double share = 1 / ++n;
    for (index_t j = 0; j < n_features; ++j) {
      const double d = x[j] - mean[j];
      mean[j] += d * share;
      m2[j] += d * (x[j] - mean[j]);
      count[j] += x[j] != 0 ? 1.0 : 0.0;
    }
  }
};

/// All values of a row, where they are or in `room`.
inline const double* all_values(const DenseRow<double>& row, double*) { return row.values; }
template <class Row>
const double* all_values(const Row& row, double* room) {
  std::fill_n(room, row.n_features, 0.0);
  row.each([&](index_t j, double x) { room[j] = x; });
  return room;
}

/// Adds rows[part[0]], rows[part[1]], ... to what is known about their columns, one by one: chunks leave no trace.
template <class AllRows>
void measure_rows(const AllRows& rows, const index_t* part, index_t n_part, Columns known, double* room) {
  for (index_t i = 0; i < n_part; ++i) known.add(all_values(rows.row(part[i], 0), room), rows.n_features);
}

/// out[i][j] = (x[j] - shift[j]) * inverse[j] of the row part[i], at most `far` from 0.
template <class AllRows>
void scale_rows(const AllRows& rows, const index_t* part, index_t n_part, const double* shift, const double* inverse, double far,
                double* out) {
  const index_t d = rows.n_features;
  for (index_t i = 0; i < n_part; ++i) {
    double* to = out + i * d;
    const double* x = all_values(rows.row(part[i], 0), to);
    for (index_t j = 0; j < d; ++j) to[j] = std::min(std::max((x[j] - shift[j]) * inverse[j], -far), far);
  }
}

}  // namespace thresher
