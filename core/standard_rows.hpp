// Standardises dense rows for learners that tune themselves: columns are centred and divided by their standard deviation.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>

#include "rows.hpp"
#include "wide.hpp"

namespace thresher {

/// Running mean, sum of squared deviations and number of non-zeros of each column, over n rows.
struct Columns {
  double *mean, *m2, *count;
  double n;
};

/// Adds `n_rows` rows, at most four at a time so that the statistics of a column stay in registers. A column takes one row after
/// the other, so the division of rows into batches has no effect.
template <int n_rows>
THRESHER_WIDE void add_rows(const double* const* x, index_t n_features, Columns& known) {
  double share[n_rows];
  for (double& each : share) each = 1 / ++known.n;
  double *const means = known.mean, *const m2s = known.m2, *const counts = known.count;
  THRESHER_NO_OVERLAP  // three arrays and some rows
  for (index_t j = 0; j < n_features; ++j) {
    double mean = means[j], m2 = m2s[j], count = counts[j];
    for (int i = 0; i < n_rows; ++i) {
      const double d = x[i][j] - mean;
      mean += d * share[i];
      m2 += d * (x[i][j] - mean);
      count += x[i][j] != 0 ? 1.0 : 0.0;
    }
    means[j] = mean;
    m2s[j] = m2;
    counts[j] = count;
  }
}

/// to[j] = (x[j] - shift[j]) * inverse[j], clipped to [-far, far]; `to` may be `x`. Returns whether any value was clipped, which
/// is found without a branch, by comparing bits.
THRESHER_WIDE inline bool scale_row(const double* x, index_t n_features, const double* shift, const double* inverse, double far,
                                    double* to) {
  std::int64_t changed = 0;
  THRESHER_NO_OVERLAP
  for (index_t j = 0; j < n_features; ++j) {
    const double scaled = (x[j] - shift[j]) * inverse[j], low = scaled < -far ? -far : scaled;
    const double kept = low > far ? far : low;
    std::int64_t was, is;
    std::memcpy(&was, &scaled, sizeof was);
    std::memcpy(&is, &kept, sizeof is);
    changed |= was ^ is;
    to[j] = kept;
  }
  return changed != 0;
}

/// All values of a row: in place if it is dense, otherwise copied to `room`.
inline const double* all_values(const DenseRow<double>& row, double*) { return row.values; }
template <class Row>
const double* all_values(const Row& row, double* room) {
  std::fill_n(room, row.n_features, 0.0);
  row.each([&](index_t j, double x) { room[j] = x; });
  return room;
}

/// Adds rows[part[0]], rows[part[1]], ... to the statistics of their columns; `room` holds four rows.
template <class AllRows>
void measure_rows(const AllRows& rows, const index_t* part, index_t n_part, Columns known, double* room) {
  const double* x[4];
  for (index_t i = 0; i < n_part; i += 4) {
    const int n = static_cast<int>(std::min<index_t>(4, n_part - i));
    for (int k = 0; k < n; ++k) x[k] = all_values(rows.row(part[i + k], 0), room + k * rows.n_features);
    if (n == 4) add_rows<4>(x, rows.n_features, known);
    else
      for (int k = 0; k < n; ++k) add_rows<1>(x + k, rows.n_features, known);
  }
}

/// Row i of `out` is the scaled row part[i]; is_far[i], if given, says whether any of its values was clipped.
template <class AllRows>
void scale_rows(const AllRows& rows, const index_t* part, index_t n_part, const double* shift, const double* inverse, double far,
                double* out, std::uint8_t* is_far) {
  const index_t d = rows.n_features;
  for (index_t i = 0; i < n_part; ++i) {
    double* to = out + i * d;
    const bool some = scale_row(all_values(rows.row(part[i], 0), to), d, shift, inverse, far, to);
    if (is_far) is_far[i] = some;
  }
}

}  // namespace thresher
