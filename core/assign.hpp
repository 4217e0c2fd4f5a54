// Assigns every row to the nearest of several centres, and sums the rows of each centre.
//
// The cost of a row x at centre c is |x - middle|^2 + offset_c + <x - middle, column c of table>. Only the terms that depend on c
// are computed, for several centres at a time. Ties go to the first centre. Terms are added in the same order for every register
// width, so the bits do not depend on the machine.
#pragma once
#include "dense_nearest.hpp"
#include "watch.hpp"
#include "wide.hpp"

namespace thresher {

/// Weighted sums of the rows of each centre, and sums of their weights.
struct Sums {
  double* sums;     // (n_centres, n_features)
  double* weights;  // n_centres
};

/// Row weights, and the outputs of an assignment.
struct Assigned {
  const double* weight;  // of the rows; null for 1
  std::int32_t* labels;
  double* costs;     // null if not wanted
  const Sums* into;  // null if not wanted
};

template <class Value>
THRESHER_INLINE void add_row(const DenseRows<Value>& rows, index_t i, double weight, double* sum) {
  const Value* x = rows.values + i * rows.n_features;
  THRESHER_NO_OVERLAP
  for (index_t j = 0; j < rows.n_features; ++j) sum[j] += weight * static_cast<double>(x[j]);
}

template <class Value, class Column>
THRESHER_INLINE void add_row(const CsrRows<Value, Column>& rows, index_t i, double weight, double* sum) {
  for (index_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
    sum[rows.columns[p]] += weight * static_cast<double>(rows.values[p]);
}

/// Assigns the rows of a tile, and adds them to the sums while they are in the cache.
template <class Rows>
struct AssignTile {
  static constexpr int most_bytes = Comparer<Rows>::most_bytes;
  const Rows& rows;
  Comparer<Rows> comparer;
  const Assigned& to;

  template <int Bytes>
  THRESHER_INLINE void run(index_t begin, index_t end) {
    comparer.template find<Bytes>(begin, end, to.labels + begin, to.costs ? to.costs + begin : nullptr);
    for (index_t r = begin; to.into && r < end; ++r) {
      const double w = to.weight ? to.weight[r] : 1.0;
      if (w == 0) continue;
      to.into->weights[to.labels[r]] += w;
      add_row(rows, r, w, to.into->sums + to.labels[r] * rows.n_features);
    }
  }
};

template <class Rows>
struct CostTile {
  static constexpr int most_bytes = Comparer<Rows>::most_bytes;
  Comparer<Rows> comparer;
  double* out;  // costs from row `first` on
  index_t first, n_padded;

  template <int Bytes>
  THRESHER_INLINE void run(index_t begin, index_t end) {
    comparer.template put<Bytes>(begin, end, out + (begin - first) * n_padded);
  }
};

template <class Tile>
void run_plain(Tile& tile, index_t begin, index_t end) {
  tile.template run<16>(begin, end);
}
template <class Tile>
THRESHER_AVX2 void run_wide(Tile& tile, index_t begin, index_t end) {
  tile.template run<32>(begin, end);
}
template <class Tile>
THRESHER_AVX512 void run_widest(Tile& tile, index_t begin, index_t end) {
  tile.template run<64>(begin, end);
}

/// Runs all tiles, in the widest registers of the machine, up to `bytes`.
template <class Tile>
void run_tiles(Tile& tile, index_t begin, index_t end, int bytes) {
  Watch watch;
  bytes = bytes < widest_register() ? bytes : widest_register();
  const index_t n = tile.comparer.n_at_once();
  for (index_t i = begin; i < end; i += n) {
    watch.tick();
    const index_t stop = end - i < n ? end : i + n;
    if constexpr (Tile::most_bytes >= 64)
      if (bytes >= 64) {
        run_widest(tile, i, stop);
        continue;
      }
    if (bytes >= 32) run_wide(tile, i, stop);
    else run_plain(tile, i, stop);
  }
}

/// The labels of rows begin ... end, and their least costs and sums if wanted. A row of weight 0 adds nothing to the sums.
template <class Rows>
void run_assign(const Rows& rows, index_t begin, index_t end, const Centres& centres, const Assigned& to) {
  AssignTile<Rows> tile{rows, {rows, centres, to.costs != nullptr}, to};
  run_tiles(tile, begin, end, centres.bytes);
}

/// The costs of rows begin ... end at all centres.
template <class Rows>
void run_costs(const Rows& rows, index_t begin, index_t end, const Centres& centres, double* out) {
  CostTile<Rows> tile{{rows, centres, true}, out, begin, centres.n_padded};
  run_tiles(tile, begin, end, centres.bytes);
}

}  // namespace thresher
