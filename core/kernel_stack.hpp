// Stacks of square matrices: submatrices in double precision, weighted sums and quadratic forms.
#pragma once
#include <algorithm>
#include <cmath>
#include <vector>

#include "task_sweep.hpp"
#include "wide.hpp"

namespace thresher {

/// A matrix with any strides.
template <class Value>
struct Strided {
  const Value* values;
  index_t n_rows, n_columns, row_step, column_step;

  Value at(index_t i, index_t j) const { return values[i * row_step + j * column_step]; }
};

constexpr index_t kNear = 32768;  // numbers that stay in the cache while all matrices are added
constexpr index_t kSquare = 16;   // side of the squares that are read with their mirror images

/// Calls visit(value, mirrored value) for every entry below the diagonal and on it, square by square.
template <class Value, class Visit>
void each_pair(const Strided<Value>& matrix, Visit visit) {
  const index_t n = matrix.n_rows;
  for (index_t top = 0; top < n; top += kSquare)
    for (index_t left = 0; left <= top; left += kSquare)
      for (index_t i = top; i < std::min(n, top + kSquare); ++i)
        for (index_t j = left; j < std::min(i + 1, left + kSquare); ++j) visit(matrix.at(i, j), matrix.at(j, i));
}

/// Whether a matrix equals its transpose within these tolerances.
template <class Value>
bool nearly_symmetric(const Strided<Value>& matrix, double atol, double rtol) {
  const Value least = static_cast<Value>(atol), part = static_cast<Value>(rtol);
  bool near = true;
  each_pair(matrix, [&](Value below, Value above) {
    near &= std::fabs(below - above) <= least + part * std::min(std::fabs(below), std::fabs(above));
  });
  return near;
}

/// Calls put(k, row[places[k]]) for k < n.
template <class Value, class Put>
void each_of_row(const Value* row, index_t step, const index_t* places, index_t n, Put put) {
  if (step == 1)
    for (index_t k = 0; k < n; ++k) put(k, static_cast<double>(row[places[k]]));
  else
    for (index_t k = 0; k < n; ++k) put(k, static_cast<double>(row[places[k] * step]));
}

/// The lower triangle of the submatrix at `places`, packed by rows. Unless the matrix is the `same` as its transpose, the two are
/// averaged.
template <class Value>
void take_half(const Strided<Value>& matrix, const index_t* places, index_t n, bool same, double* out) {
  bool all = matrix.column_step == 1;
  for (index_t a = 0; a < n; ++a) all &= places[a] == a;
  for (index_t a = 0; a < n; out += ++a) {
    const Value* const row = matrix.values + places[a] * matrix.row_step;
    if (all && same)
      for (index_t b = 0; b <= a; ++b) out[b] = static_cast<double>(row[b]);
    else each_of_row(row, matrix.column_step, places, a + 1, [out](index_t b, double entry) { out[b] = entry; });
    if (!same)
      each_of_row(matrix.values + places[a] * matrix.column_step, matrix.row_step, places, a + 1,
                  [out](index_t b, double entry) { out[b] = 0.5 * (out[b] + entry); });
  }
}

/// out += weight * matrix[rows, columns].
template <class Value>
void add_block(const Strided<Value>& matrix, double weight, const index_t* rows, index_t n_rows, const index_t* columns,
               index_t n_columns, double* out) {
  for (index_t a = 0; a < n_rows; ++a, out += n_columns)
    each_of_row(matrix.values + rows[a] * matrix.row_step, matrix.column_step, columns, n_columns,
                [=](index_t b, double entry) { out[b] += weight * entry; });
}

/// A contiguous run of entries of a matrix, and its place in the output.
struct Piece { index_t from, length, to; };

namespace pieces_detail {

/// to += a_0 x_0 + ... + a_3 x_3, added in this order.
template <class Value>
THRESHER_INLINE void add_body(const Value* const* x, const double* a, index_t n, double* to) {
  const Value *const x0 = x[0], *const x1 = x[1], *const x2 = x[2], *const x3 = x[3];
  const double a0 = a[0], a1 = a[1], a2 = a[2], a3 = a[3];
  THRESHER_NO_OVERLAP
  for (index_t j = 0; j < n; ++j)
    to[j] = (((to[j] + a0 * static_cast<double>(x0[j])) + a1 * static_cast<double>(x1[j])) + a2 * static_cast<double>(x2[j])) +
            a3 * static_cast<double>(x3[j]);
}
template <class Value>
void add_plain(const Value* const* x, const double* a, index_t n, double* to) {
  add_body(x, a, n, to);
}
#if defined(__x86_64__) && THRESHER_GNU
template <class Value>
[[gnu::target("avx2")]] void add_wide(const Value* const* x, const double* a, index_t n, double* to) {
  add_body(x, a, n, to);
}
#else
template <class Value>
void add_wide(const Value* const* x, const double* a, index_t n, double* to) {
  add_body(x, a, n, to);
}
#endif

}  // namespace pieces_detail

/// Adds the same pieces of all matrices, times their weights. A matrix starts `apart` values after the one before; those of
/// weight 0 are not read.
template <class Value>
void add_pieces(const Value* values, index_t n_matrices, index_t apart, const double* weights, const std::vector<Piece>& pieces,
                double* out) {
  std::vector<index_t> used;
  for (index_t q = 0; q < n_matrices; ++q)
    if (weights[q] != 0) used.push_back(q);
  const bool wide = columns_detail::wide();
  for (std::size_t begin = 0, end = 0; begin < pieces.size(); begin = end) {
    for (index_t together = 0; end < pieces.size() && together < kNear / 2; ++end) together += pieces[end].length;
    for (std::size_t k = 0; k < used.size(); k += 4)
      for (std::size_t piece = begin; piece < end; ++piece) {
        const Value* x[4];
        double a[4];
        for (std::size_t l = 0; l < 4; ++l) {  // the last group is filled up with weights of 0
          const index_t q = used[std::min(k + l, used.size() - 1)];
          x[l] = values + q * apart + pieces[piece].from;
          a[l] = k + l < used.size() ? weights[q] : 0;
        }
        double* const to = out + pieces[piece].to;
        if (wide) pieces_detail::add_wide(x, a, pieces[piece].length, to);
        else pieces_detail::add_plain(x, a, pieces[piece].length, to);
      }
  }
}

/// Where the rows of a lower triangle start: `apart` values from each other, or packed.
struct HalfRows {
  index_t n, apart;  // 0: packed

  index_t begin(index_t i) const { return apart > 0 ? i * apart : i * (i + 1) / 2; }
};

namespace energy_detail {

/// <x, row> over the columns from `begin` to the diagonal, whose entry counts half.
template <class Value>
THRESHER_INLINE void end_of_row(const Value* row, const double* x, index_t n, index_t begin, index_t i, Four& sum, double& rest) {
  constexpr double parts[] = {1, 1, 1, 0.5, 0, 0, 0};
  Four of_row, of_x, part;
  index_t j = begin;
  for (; j + 4 <= i; j += 4) {
    columns_detail::load(row + j, of_row);
    columns_detail::load(x + j, of_x);
    sum += of_x * of_row;
  }
  if (j + 4 <= n) {  // entries beyond the diagonal get a factor of 0
    columns_detail::load(row + j, of_row);
    columns_detail::load(x + j, of_x);
    columns_detail::load(parts + 3 - (i - j), part);
    sum += part * of_x * of_row;
    return;
  }
  for (; j < i; ++j) rest += x[j] * static_cast<double>(row[j]);
  rest += 0.5 * x[i] * static_cast<double>(row[i]);
}

/// <x, K x> / 2 from the lower triangle of K. Reads only the rows with a coefficient, four at a time.
template <class Value>
THRESHER_INLINE void energy_body(const Value* values, HalfRows rows, const double* x, const std::vector<index_t>& used,
                                 double& found) {
  constexpr index_t kLine = 64 / sizeof(Value);
  Four sum = {};
  double rest = 0;
  std::size_t k = 0;
  for (; k + 4 <= used.size(); k += 4) {
    const Value *const a = values + rows.begin(used[k]), *const b = values + rows.begin(used[k + 1]),
                       *const c = values + rows.begin(used[k + 2]), *const d = values + rows.begin(used[k + 3]);
    Four of_a = {}, of_b = {}, of_c = {}, of_d = {}, of_x, of_row;
    const bool more = k + 8 <= used.size();
    const Value* next[4];
    for (std::size_t l = 0; l < 4; ++l) next[l] = values + rows.begin(used[more ? k + 4 + l : k + l]);
    index_t j = 0;
    for (; j + 4 <= used[k]; j += 4) {
      if (j % kLine == 0)
        for (const Value* row : next) prefetch_line(row + j + (more ? 4 : 0));
      columns_detail::load(x + j, of_x);
      columns_detail::load(a + j, of_row);
      of_a += of_x * of_row;
      columns_detail::load(b + j, of_row);
      of_b += of_x * of_row;
      columns_detail::load(c + j, of_row);
      of_c += of_x * of_row;
      columns_detail::load(d + j, of_row);
      of_d += of_x * of_row;
    }
    double ends[4] = {};
    end_of_row(a, x, rows.n, j, used[k], of_a, ends[0]);
    end_of_row(b, x, rows.n, j, used[k + 1], of_b, ends[1]);
    end_of_row(c, x, rows.n, j, used[k + 2], of_c, ends[2]);
    end_of_row(d, x, rows.n, j, used[k + 3], of_d, ends[3]);
    sum += x[used[k]] * of_a;
    sum += x[used[k + 1]] * of_b;
    sum += x[used[k + 2]] * of_c;
    sum += x[used[k + 3]] * of_d;
    for (std::size_t l = 0; l < 4; ++l) rest += x[used[k + l]] * ends[l];
  }
  for (; k < used.size(); ++k) {
    Four of_row = {};
    double end = 0;
    end_of_row(values + rows.begin(used[k]), x, rows.n, index_t{0}, used[k], of_row, end);
    sum += x[used[k]] * of_row;
    rest += x[used[k]] * end;
  }
  found = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest;
}
template <class Value>
void energy_plain(const Value* values, HalfRows rows, const double* x, const std::vector<index_t>& used, double& found) {
  energy_body(values, rows, x, used, found);
}
#if defined(__x86_64__) && THRESHER_GNU
template <class Value>
[[gnu::target("avx2")]] void energy_wide(const Value* values, HalfRows rows, const double* x, const std::vector<index_t>& used,
                                         double& found) {
  energy_body(values, rows, x, used, found);
}
#else
template <class Value>
void energy_wide(const Value* values, HalfRows rows, const double* x, const std::vector<index_t>& used, double& found) {
  energy_body(values, rows, x, used, found);
}
#endif

}  // namespace energy_detail

/// <x, K x> / 2 for the matrices `some`. A matrix starts `apart` values after the one before.
template <class Value>
void energies(const Value* values, index_t apart, HalfRows rows, const double* x, const index_t* some, index_t n_some,
              double* out) {
  std::vector<index_t> used;
  for (index_t i = 0; i < rows.n; ++i)
    if (x[i] != 0) used.push_back(i);
  const bool wide = columns_detail::wide();
  for (index_t k = 0; k < n_some; ++k) {
    if (wide) energy_detail::energy_wide(values + some[k] * apart, rows, x, used, out[k]);
    else energy_detail::energy_plain(values + some[k] * apart, rows, x, used, out[k]);
  }
}

/// The symmetric matrix with this lower triangle, times a factor. `matrix` may be `lower`.
inline void mirrored(const double* lower, index_t n, double factor, double* matrix) {
  for (index_t top = 0; top < n; top += kSquare)
    for (index_t left = 0; left <= top; left += kSquare)
      for (index_t j = left; j < std::min(n, left + kSquare); ++j)
        for (index_t i = std::max(top, j); i < std::min(n, top + kSquare); ++i)
          matrix[j * n + i] = matrix[i * n + j] = factor * lower[i * n + j];
}

}  // namespace thresher
