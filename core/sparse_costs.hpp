// The costs of sparse rows at all centres, several centres at a time in SIMD registers.
#pragma once
#include "centres.hpp"

namespace thresher {

constexpr int kMostLanes = 8;  // lanes of centres per read of a row
constexpr int kFewLanes = 2;   // the same without wide registers

/// Updates `best` with N lanes of costs, of centres c0 and following.
template <int N>
THRESHER_INLINE void keep_least(const Lane* costs, index_t c0, Nearest& best) {
  Lane least = costs[0];
  Lanes<std::int64_t, kLane> at = {0, 0, 0, 0};
  THRESHER_UNROLL
  for (int v = 1; v < N; ++v) keep_lower<kLane>(least, at, costs[v], std::int64_t{v});
  double cost = least[0];
  std::int64_t centre = at[0] * kLane;
  for (int i = 1; i < kLane; ++i) {
    const std::int64_t c = at[i] * kLane + i;
    if (least[i] < cost || (least[i] == cost && c < centre)) cost = least[i], centre = c;
  }
  if (cost < best.cost) best = {cost, static_cast<std::int32_t>(c0 + centre)};
}

/// Sinks for the costs of a row: Least keeps the smallest, Every stores all of them.
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

/// Compares rows with all centres, in groups of at most `Most` lanes, which should fit into registers.
template <index_t Most, class Value, class Column, class Sink>
THRESHER_INLINE void compare_all(const CsrRows<Value, Column>& rows, index_t begin, index_t end, const Centres& centres,
                                 const Sink& sink) {
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

template <class Rows>
class Comparer;

template <class Value, class Column>
class Comparer<CsrRows<Value, Column>> {
 public:
  static constexpr int most_bytes = 32;  // of registers

  Comparer(const CsrRows<Value, Column>& rows, const Centres& centres, bool) : rows_(rows), centres_(centres) {}

  /// The number of rows of a tile.
  static index_t n_at_once() { return kTile; }
  /// The nearest centre of each row of a tile, and its cost.
  template <int Bytes>
  THRESHER_INLINE void find(index_t begin, index_t end, std::int32_t* labels, double* costs) {
    Nearest best[kTile];
    compare_all<(Bytes > 16 ? kMostLanes : kFewLanes)>(rows_, begin, end, centres_, Least{best});
    for (index_t r = 0; r < end - begin; ++r) {
      labels[r] = best[r].centre;
      if (costs) costs[r] = best[r].cost;
    }
  }
  /// The costs of rows at all centres: (end - begin, n_padded).
  template <int Bytes>
  THRESHER_INLINE void put(index_t begin, index_t end, double* out) {
    compare_all<(Bytes > 16 ? kMostLanes : kFewLanes)>(rows_, begin, end, centres_, Every{out, centres_.n_padded});
  }

 private:
  const CsrRows<Value, Column>& rows_;
  const Centres& centres_;
};

}  // namespace thresher
