// The costs of dense rows at all centres, for groups of 32 rows. The values of a group are transposed, and each weight of a
// centre is multiplied with a whole column. Columns are added in order, so the bits do not depend on the register width.
#pragma once
#include <limits>
#include <vector>

#include "lanes.hpp"
#include "rows.hpp"

namespace thresher {

constexpr int kGroup = 32;        // dense rows in a group
constexpr int kBlock = 4;         // centres that a group is compared with at a time
constexpr index_t kColumns = 64;  // columns in a block, which stays in the cache

/// Centres, as the cost per unit of each feature and a constant offset.
template <class T>
struct Table {
  const T* weights;  // (n_features, n_padded)
  const T* offsets;  // n_padded
  index_t n_features, n_padded;
};

/// Buffers for a group of rows, and the results of their comparison.
template <class T>
struct Group {
  std::vector<T> tile, offsets, costs;  // (kColumns, kGroup); (n_padded, kGroup)
  T squares[kGroup], least[kGroup], second[kGroup];
  T square = 0;  // the largest of the squares
  Whole<T> at[kGroup];

  explicit Group(const Table<T>& table)
      : tile((table.n_features < kColumns ? table.n_features : kColumns) * kGroup), costs(table.n_padded * kGroup) {
    for (index_t c = 0; c < table.n_padded; ++c) offsets.insert(offsets.end(), kGroup, table.offsets[c]);
  }
};

#if THRESHER_SHUFFLES
/// Transposes K columns of K rows, from column j on. Prefetches rows `ahead` bytes further on.
template <int K, class T, class Value>
THRESHER_INLINE void turn(const Value* const* x, index_t j, std::uintptr_t ahead, T* to) {
  Lanes<T, K> row[K];
  THRESHER_UNROLL
  for (int k = 0; k < K; ++k) {
    Lanes<Value, K> read;
    load(read, x[k] + j);
    prefetch_line(reinterpret_cast<const void*>(reinterpret_cast<std::uintptr_t>(x[k] + j) + ahead));
    row[k] = __builtin_convertvector(read, Lanes<T, K>);
  }
  if constexpr (K == 2) {
    store(to, __builtin_shufflevector(row[0], row[1], 0, 2));
    store(to + kGroup, __builtin_shufflevector(row[0], row[1], 1, 3));
  } else {
    const auto a = __builtin_shufflevector(row[0], row[1], 0, 4, 1, 5), b = __builtin_shufflevector(row[2], row[3], 0, 4, 1, 5),
               c = __builtin_shufflevector(row[0], row[1], 2, 6, 3, 7), d = __builtin_shufflevector(row[2], row[3], 2, 6, 3, 7);
    store(to, __builtin_shufflevector(a, b, 0, 1, 4, 5));
    store(to + kGroup, __builtin_shufflevector(a, b, 2, 3, 6, 7));
    store(to + 2 * kGroup, __builtin_shufflevector(c, d, 0, 1, 4, 5));
    store(to + 3 * kGroup, __builtin_shufflevector(c, d, 2, 3, 6, 7));
  }
}
#endif

/// Transposes columns j0 ... j0 + n of a group of rows into `tile`, and subtracts the middle.
template <int Bytes, class T, class Value>
THRESHER_INLINE void lay_out(const Value* const* x, index_t j0, index_t n, const double* middle, T* tile) {
  constexpr int K = Bytes / sizeof(T) < 4 ? 2 : 4;
  [[maybe_unused]] const auto ahead = reinterpret_cast<std::uintptr_t>(x[kGroup - 1]) - reinterpret_cast<std::uintptr_t>(x[0]);
  for (int r = 0; r < kGroup; r += K) {
    index_t j = 0;
#if THRESHER_SHUFFLES
    for (; j + K <= n; j += K) turn<K>(x + r, j0 + j, ahead, tile + j * kGroup + r);
#endif
    for (; j < n; ++j)
      for (int k = 0; k < K; ++k) tile[j * kGroup + r + k] = static_cast<T>(x[r + k][j0 + j]);
  }
  if (!middle) return;
  for (index_t j = 0; j < n; ++j) {
    const T from = static_cast<T>(middle[j0 + j]);
    for (int r = 0; r < kGroup; ++r) tile[j * kGroup + r] -= from;
  }
}

/// Adds the terms of n columns from j0 on to the costs.
template <int Bytes, class T>
THRESHER_INLINE void add_columns(const Table<T>& table, index_t j0, index_t n, Group<T>& group) {
  constexpr int N = Bytes / sizeof(T), R = 2;
  for (index_t c0 = 0; c0 < table.n_padded; c0 += kBlock)
    for (int r = 0; r < kGroup; r += R * N) {
      Lanes<T, N> costs[kBlock][R];
      T* const out = group.costs.data() + c0 * kGroup + r;
      const T* const from = j0 == 0 ? group.offsets.data() + c0 * kGroup + r : out;
      THRESHER_UNROLL
      for (int k = 0; k < kBlock; ++k) THRESHER_UNROLL
      for (int v = 0; v < R; ++v) load(costs[k][v], from + k * kGroup + v * N);
      const T *x = group.tile.data() + r, *w = table.weights + j0 * table.n_padded + c0;
      for (index_t j = 0; j < n; ++j, x += kGroup, w += table.n_padded) {
        Lanes<T, N> values[R];
        THRESHER_UNROLL
        for (int v = 0; v < R; ++v) load(values[v], x + v * N);
        THRESHER_UNROLL
        for (int k = 0; k < kBlock; ++k) THRESHER_UNROLL
        for (int v = 0; v < R; ++v) costs[k][v] += w[k] * values[v];
      }
      THRESHER_UNROLL
      for (int k = 0; k < kBlock; ++k) THRESHER_UNROLL
      for (int v = 0; v < R; ++v) store(out + k * kGroup + v * N, costs[k][v]);
    }
}

/// Adds the terms of these columns to the squared lengths of the rows.
template <int Bytes, class T>
THRESHER_INLINE void add_squares(index_t j0, index_t n, Group<T>& group) {
  constexpr int N = Bytes / sizeof(T);
  for (int r = 0; r < kGroup; r += N) {
    Lanes<T, N> sum;
    if (j0 == 0) fill<N>(sum, T{0});
    else load(sum, group.squares + r);
    for (index_t j = 0; j < n; ++j) {
      Lanes<T, N> values;
      load(values, group.tile.data() + j * kGroup + r);
      sum += values * values;
    }
    store(group.squares + r, sum);
  }
  T largest = 0;
  for (int r = 0; r < kGroup; ++r) largest = group.squares[r] > largest ? group.squares[r] : largest;
  group.square = largest;
}

/// The costs of a group of rows at all centres; in float32 with the squared lengths of the rows.
template <int Bytes, class T, class Value>
THRESHER_INLINE void compare(const Value* const* x, const Table<T>& table, const double* middle, Group<T>& group) {
  for (index_t j0 = 0; j0 == 0 || j0 < table.n_features; j0 += kColumns) {
    const index_t n = table.n_features - j0 < kColumns ? table.n_features - j0 : kColumns;
    lay_out<Bytes>(x, j0, n, middle, group.tile.data());
    add_columns<Bytes>(table, j0, n, group);
    if constexpr (std::is_same_v<T, float>) add_squares<Bytes>(j0, n, group);
  }
}

/// The least cost of each row, the first of equal ones; in float32 with the second least.
template <int Bytes, class T>
THRESHER_INLINE void find_least(index_t n_padded, Group<T>& group) {
  constexpr int N = Bytes / sizeof(T), R = 2;
  for (int r = 0; r < kGroup; r += R * N) {
    Lanes<T, N> least[R], second[R];
    Lanes<Whole<T>, N> at[R];
    THRESHER_UNROLL
    for (int v = 0; v < R; ++v) {
      load(least[v], group.costs.data() + r + v * N);
      fill<N>(second[v], std::numeric_limits<T>::infinity());
      fill<N>(at[v], Whole<T>{0});
    }
    for (index_t c = 1; c < n_padded; ++c) THRESHER_UNROLL
    for (int v = 0; v < R; ++v) {
      Lanes<T, N> costs;
      load(costs, group.costs.data() + c * kGroup + r + v * N);
      if constexpr (std::is_same_v<T, float>) keep_second<N>(second[v], least[v], costs);
      keep_lower<N>(least[v], at[v], costs, static_cast<Whole<T>>(c));
    }
    THRESHER_UNROLL
    for (int v = 0; v < R; ++v) {
      store(group.least + r + v * N, least[v]);
      store(group.second + r + v * N, second[v]);
      store(group.at + r + v * N, at[v]);
    }
  }
}

}  // namespace thresher
