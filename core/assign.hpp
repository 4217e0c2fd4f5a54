// The nearest of several centres, for every row, and what each centre gets by it.
//
// The cost of a row x at centre c is |x|^2 + offset_c + <x - middle, column c of table>: of all that, only what depends on c is
// computed, for four centres at a time. Ties go to the first centre. Sums of a vector's entries keep their order whatever the width of
// the machine's registers, so all of them give the same bits.
#pragma once
#include <limits>

#include "lanes.hpp"
#include "rows.hpp"
#include "watch.hpp"

namespace thresher {

constexpr int kMostLanes = 8;   // that are compared while a row is read once,
constexpr int kFewLanes = 2;    // without wide registers, where more of them would not fit
constexpr index_t kTile = 256;  // rows that are added to sums while they are at hand

struct Centres {
  const double* table;        // (n_columns, n_padded): what a unit of a feature adds to the cost at each centre
  const double* offsets;      // n_padded: infinite for those that are padding
  const std::int32_t* place;  // of a feature in the table, -1 for one that no centre uses; null if all of them are there
  const double* middle;       // subtracted from dense rows; null for 0
  index_t n_padded;
  bool wide = true;  // whether to use the widest registers of the machine; the bits are the same
};

struct Nearest {
  double cost = std::numeric_limits<double>::infinity();  // without |x|^2
  std::int32_t centre = 0;
};

/// The lower of two lanes, entry by entry, and v where that is the second.
THRESHER_INLINE void keep_lower(Lane& least, LaneMask& at, const Lane& costs, int v) {
#if THRESHER_GNU
  const LaneMask lower = costs < least;
  least = lower ? costs : least;
  at = lower ? LaneMask{v, v, v, v} : at;
#else
  for (int i = 0; i < kLane; ++i)
    if (costs[i] < least[i]) least[i] = costs[i], at[i] = v;
#endif
}

/// The least of the costs of some lanes, the first of which belongs to centre c0.
template <int N>
THRESHER_INLINE void keep_least(const Lane* costs, index_t c0, Nearest& best) {
  Lane least = costs[0];
  LaneMask at = {0, 0, 0, 0};
  THRESHER_UNROLL
  for (int v = 1; v < N; ++v) keep_lower(least, at, costs[v], v);
  double cost = least[0];
  std::int64_t centre = at[0] * kLane;
  for (int i = 1; i < kLane; ++i) {
    const std::int64_t c = at[i] * kLane + i;
    if (least[i] < cost || (least[i] == cost && c < centre)) cost = least[i], centre = c;
  }
  if (cost < best.cost) best = {cost, static_cast<std::int32_t>(c0 + centre)};
}

/// What becomes of the costs of a row: the least is kept, or all of them are.
struct Least {
  Nearest* best;
  template <int N>
  THRESHER_INLINE void take(index_t r, const Lane* costs, index_t c0) const {
    keep_least<N>(costs, c0, best[r]);
  }
};
struct Every {
  double* out;  // (n_rows, n_padded)
  index_t n_padded;
  template <int N>
  THRESHER_INLINE void take(index_t r, const Lane* costs, index_t c0) const {
    std::memcpy(out + r * n_padded + c0, costs, N * sizeof(Lane));
  }
};

/// R dense rows from row i on, the r-th of those that are compared.
template <int N, int R, bool Shifted, class Value, class Sink>
THRESHER_INLINE void compare_dense(const DenseRows<Value>& rows, index_t i, const Centres& centres, index_t c0, const Sink& sink,
                                   index_t at) {
  Lane costs[R][N];
  THRESHER_UNROLL
  for (int r = 0; r < R; ++r) THRESHER_UNROLL
  for (int v = 0; v < N; ++v) load(costs[r][v], centres.offsets + c0 + v * kLane);
  const Value* x = rows.values + i * rows.n_features;
  const double* column = centres.table + c0;
  for (index_t j = 0; j < rows.n_features; ++j, column += centres.n_padded) {
    Lane w[N];
    THRESHER_UNROLL
    for (int v = 0; v < N; ++v) load(w[v], column + v * kLane);
    THRESHER_UNROLL
    for (int r = 0; r < R; ++r) {
      double value = static_cast<double>(x[r * rows.n_features + j]);
      if constexpr (Shifted) value -= centres.middle[j];
      THRESHER_UNROLL
      for (int v = 0; v < N; ++v) costs[r][v] += value * w[v];
    }
  }
  THRESHER_UNROLL
  for (int r = 0; r < R; ++r) sink.template take<N>(at + r, costs[r], c0);
}

template <int N, bool Shifted, class Value, class Sink>
THRESHER_INLINE void compare_shifted(const DenseRows<Value>& rows, index_t begin, index_t end, const Centres& centres, index_t c0,
                                     const Sink& sink) {
  constexpr int R = N == 1 ? 8 : N <= 3 ? 4 : N <= 6 ? 2 : 1;  // as many sums at once as there are registers
  index_t i = begin;
  for (; i + R <= end; i += R) compare_dense<N, R, Shifted>(rows, i, centres, c0, sink, i - begin);
  for (; i < end; ++i) compare_dense<N, 1, Shifted>(rows, i, centres, c0, sink, i - begin);
}

template <int N, class Value, class Sink>
THRESHER_INLINE void compare(const DenseRows<Value>& rows, index_t begin, index_t end, const Centres& centres, index_t c0,
                             const Sink& sink) {
  if (centres.middle) compare_shifted<N, true>(rows, begin, end, centres, c0, sink);
  else compare_shifted<N, false>(rows, begin, end, centres, c0, sink);
}

template <int N, class Value, class Column, class Sink>
THRESHER_INLINE void compare(const CsrRows<Value, Column>& rows, index_t begin, index_t end, const Centres& centres, index_t c0,
                             const Sink& sink) {
  for (index_t i = begin; i < end; ++i) {
    Lane costs[N];
    THRESHER_UNROLL
    for (int v = 0; v < N; ++v) load(costs[v], centres.offsets + c0 + v * kLane);
    for (index_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p) {
      const index_t at = centres.place ? centres.place[rows.columns[p]] : static_cast<index_t>(rows.columns[p]);
      if (at < 0) continue;
      const double value = static_cast<double>(rows.values[p]);
      const double* column = centres.table + at * centres.n_padded + c0;
      THRESHER_UNROLL
      for (int v = 0; v < N; ++v) {
        Lane w;
        load(w, column + v * kLane);
        costs[v] += value * w;
      }
    }
    sink.template take<N>(i - begin, costs, c0);
  }
}

/// All centres, in groups of at most `Most` lanes, which should fit into registers.
template <index_t Most, class Rows, class Sink>
THRESHER_INLINE void compare_all(const Rows& rows, index_t begin, index_t end, const Centres& centres, const Sink& sink) {
  const index_t n_lanes = centres.n_padded / kLane;
  for (index_t lane = 0; lane < n_lanes;) {
    const index_t n = n_lanes - lane < Most ? n_lanes - lane : Most, c0 = lane * kLane;
    lane += n;
    if constexpr (Most == kFewLanes) {
      if (n == 1) compare<1>(rows, begin, end, centres, c0, sink);
      else compare<kFewLanes>(rows, begin, end, centres, c0, sink);
    } else {
      switch (n) {
        case 1: compare<1>(rows, begin, end, centres, c0, sink); break;
        case 2: compare<2>(rows, begin, end, centres, c0, sink); break;
        case 3: compare<3>(rows, begin, end, centres, c0, sink); break;
        case 4: compare<4>(rows, begin, end, centres, c0, sink); break;
        case 5: compare<5>(rows, begin, end, centres, c0, sink); break;
        case 6: compare<6>(rows, begin, end, centres, c0, sink); break;
        case 7: compare<7>(rows, begin, end, centres, c0, sink); break;
        default: compare<8>(rows, begin, end, centres, c0, sink); break;
      }
    }
  }
}

#if defined(__x86_64__) && THRESHER_GNU
template <class Rows, class Sink>
__attribute__((target("avx2"))) void compare_wide(const Rows& rows, index_t begin, index_t end, const Centres& centres,
                                                  const Sink& sink) {
  compare_all<kMostLanes>(rows, begin, end, centres, sink);
}
#else
template <class Rows, class Sink>
void compare_wide(const Rows& rows, index_t begin, index_t end, const Centres& centres, const Sink& sink) {
  compare_all<kMostLanes>(rows, begin, end, centres, sink);
}
#endif

template <class Rows, class Sink>
void compare_rows(const Rows& rows, index_t begin, index_t end, const Centres& centres, const Sink& sink) {
  if (centres.wide && is_wide()) compare_wide(rows, begin, end, centres, sink);
  else compare_all<kFewLanes>(rows, begin, end, centres, sink);
}

/// What rows add to the centres that they belong to.
struct Sums {
  double* sums;     // (n_centres, n_features)
  double* weights;  // n_centres
};

template <class Value>
void add_row(const DenseRows<Value>& rows, index_t i, double weight, double* sum) {
  const Value* x = rows.values + i * rows.n_features;
  if (weight == 1)
    for (index_t j = 0; j < rows.n_features; ++j) sum[j] += static_cast<double>(x[j]);
  else
    for (index_t j = 0; j < rows.n_features; ++j) sum[j] += weight * static_cast<double>(x[j]);
}

template <class Value, class Column>
void add_row(const CsrRows<Value, Column>& rows, index_t i, double weight, double* sum) {
  for (index_t p = rows.starts[i]; p < rows.starts[i + 1]; ++p)
    sum[rows.columns[p]] += weight * static_cast<double>(rows.values[p]);
}

/// Labels and least costs of rows begin ... end, and their sums if asked for; a row of weight 0 adds nothing.
template <class Rows>
void run_assign(const Rows& rows, index_t begin, index_t end, const Centres& centres, const double* weight, std::int32_t* labels,
                double* costs, const Sums* into) {
  Nearest best[kTile];
  Watch watch;
  for (index_t i = begin; i < end; i += kTile) {
    watch.tick();
    const index_t stop = end - i < kTile ? end : i + kTile;
    for (index_t r = i; r < stop; ++r) best[r - i] = Nearest{};
    compare_rows(rows, i, stop, centres, Least{best});
    for (index_t r = i; r < stop; ++r) {
      labels[r] = best[r - i].centre;
      costs[r] = best[r - i].cost;
      if (!into) continue;
      const double w = weight ? weight[r] : 1.0;
      if (w == 0) continue;
      into->weights[labels[r]] += w;
      add_row(rows, r, w, into->sums + labels[r] * rows.n_features);
    }
  }
}

}  // namespace thresher
