// Scores of rows with given weights. One pass over a sparse row scores several outputs.
#pragma once
#include <algorithm>
#include <vector>

#include "centres.hpp"
#include "pass.hpp"

namespace thresher {

/// A model that consists of its weights only.
struct Known {
  const double* weights;
  double weight(index_t j) const { return weights[j]; }
};

/// Weights of several outputs, stored feature by feature and padded to whole lanes, with the constant last.
struct WeightTable {
  const double* weights;
  index_t n_padded;
};

/// The scores of N lanes of outputs from output c0 on. Terms are added in the order of SparseRow::sum, with the same bits.
template <int N, class Value, class Column>
THRESHER_INLINE void score_lanes(const SparseRow<Value, Column>& x, const WeightTable& table, index_t c0, double* out) {
  Lane acc[4][N] = {};
  const auto add = [&](index_t k, Lane* sums) {
    const auto value = static_cast<double>(x.values[k]);
    const double* w = table.weights + static_cast<index_t>(x.columns[k]) * table.n_padded + c0;
    for (int v = 0; v < N; ++v) {
      Lane lane;
      load(lane, w + v * kLane);
      sums[v] += value * lane;
    }
  };
  index_t k = 0;
  for (; k + 4 <= x.nnz; k += 4)
    for (int i = 0; i < 4; ++i) add(k + i, acc[i]);
  for (; k < x.nnz; ++k) add(k, acc[0]);
  const double* constant = table.weights + x.n_features * table.n_padded + c0;
  for (int v = 0; v < N; ++v) {
    acc[0][v] += acc[1][v];
    acc[2][v] += acc[3][v];
    acc[0][v] += acc[2][v];
    if (x.bias != 0) {
      Lane lane;
      load(lane, constant + v * kLane);
      acc[0][v] += x.bias * lane;
    }
    std::memcpy(out + c0 + v * kLane, &acc[0][v], sizeof(Lane));
  }
}

/// Scores all outputs, at most three lanes at a time, which fit the registers.
template <class Row>
THRESHER_INLINE void score_all(const Row& x, const WeightTable& table, double* out) {
  for (index_t c0 = 0; c0 < table.n_padded;) {
    const index_t n_lanes = (table.n_padded - c0) / kLane;
    if (n_lanes >= 3) {
      score_lanes<3>(x, table, c0, out);
      c0 += 3 * kLane;
    } else if (n_lanes == 2) {
      score_lanes<2>(x, table, c0, out);
      c0 += 2 * kLane;
    } else {
      score_lanes<1>(x, table, c0, out);
      c0 += kLane;
    }
  }
}

template <class Rows>
THRESHER_INLINE void score_tile(const Rows& rows, double bias, index_t begin, index_t end, const WeightTable& table,
                                double* out) {
  const Ahead<Rows> ahead(rows);
  for (index_t i = begin; i < end; ++i) {
    ahead.ask(nullptr, i, rows.n_rows);
    score_all(rows.row(i, bias), table, out + (i - begin) * table.n_padded);
  }
}

template <class Rows>
THRESHER_AVX2 void score_tile_wide(const Rows& rows, double bias, index_t begin, index_t end, const WeightTable& table,
                                   double* out) {
  score_tile(rows, bias, begin, end, table, out);
}

/// Scores of shape (n_rows, n_outputs) for weights of shape (n_outputs, n_features + 1), with the constant last. Computed
/// output by output.
template <class Rows>
void run_linear_scores(const Rows& rows, double bias, const double* weights, index_t n_outputs, double* out,
                       Unchecked* unchecked = nullptr) {
  for (index_t k = 0; k < n_outputs; ++k)
    run_scores(Known{weights + k * (rows.n_features + 1)}, rows, bias, out + k, n_outputs, unchecked);
}

/// The same for sparse rows. If there are enough values to pay for it, the weights are first transposed into a WeightTable.
template <class Value, class Column>
void run_linear_scores(const CsrRows<Value, Column>& rows, double bias, const double* weights, index_t n_outputs, double* out,
                       Unchecked* unchecked = nullptr) {
  const index_t n_weights = rows.n_features + 1;
  if (n_outputs == 1 || rows.n_values() < n_weights)
    return run_linear_scores<CsrRows<Value, Column>>(rows, bias, weights, n_outputs, out, unchecked);
  const index_t n_padded = (n_outputs + kLane - 1) / kLane * kLane;
  std::vector<double> together(static_cast<std::size_t>(n_weights * n_padded));
  for (index_t begin = 0; begin < n_weights; begin += kTile)
    for (index_t k = 0, end = std::min(n_weights, begin + kTile); k < n_outputs; ++k)
      for (index_t j = begin; j < end; ++j) together[j * n_padded + k] = weights[k * n_weights + j];
  const WeightTable table{together.data(), n_padded};
  const bool wide = is_wide();
  in_checked_parts(rows, rows.n_values() * n_outputs, unchecked, [&](index_t begin, index_t end) {
    Watch watch;
    std::vector<double> scores(static_cast<std::size_t>(kTile * n_padded));
    for (index_t i = begin; i < end; i += kTile) {
      watch.tick();
      const index_t stop = std::min(end, i + kTile);
      if (wide) score_tile_wide(rows, bias, i, stop, table, scores.data());
      else score_tile(rows, bias, i, stop, table, scores.data());
      for (index_t r = i; r < stop; ++r) std::copy_n(scores.data() + (r - i) * n_padded, n_outputs, out + r * n_outputs);
    }
  });
}

}  // namespace thresher
