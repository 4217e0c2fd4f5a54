// Square matrices in a stack: one look at each before it is trusted, and parts of it in double precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "task_sweep.hpp"
#include "wide.hpp"

namespace thresher {

/// A matrix of any layout.
template <class Value>
struct Strided {
  const Value* values;
  index_t n_rows, n_columns, row_step, column_step;

  Value at(index_t i, index_t j) const { return values[i * row_step + j * column_step]; }
};

constexpr index_t kNear = 32768;  // numbers that stay near while all matrices pass
constexpr index_t kSquare = 16;   // rows and columns that are compared with their mirror image at a time

/// Calls visit(value, mirrored value) for every entry below the diagonal and on it, square by square.
template <class Value, class Visit>
void each_pair(const Strided<Value>& matrix, Visit visit) {
  const index_t n = matrix.n_rows;
  for (index_t top = 0; top < n; top += kSquare)
    for (index_t left = 0; left <= top; left += kSquare)
      for (index_t i = top; i < std::min(n, top + kSquare); ++i)
        for (index_t j = left; j < std::min(i + 1, left + kSquare); ++j) visit(matrix.at(i, j), matrix.at(j, i));
}

/// Of the entries below the diagonal: the largest size, which is not that of what is no number, and whether some differ from
/// their mirror images.
struct SquareNotes {
  Four most = {};
#if THRESHER_GNU
  std::int64_t differ __attribute__((vector_size(32))) = {};

  THRESHER_INLINE void take(const Four& below, const Four& above) {
    const Four size = below < 0 ? -below : below;
    most = size > most ? size : most;
    differ |= below != above;
  }
#else
  std::int64_t differ[4] = {};

  void take(const Four& below, const Four& above) {
    for (int k = 0; k < 4; ++k) {
      most.each[k] = std::fabs(below[k]) > most[k] ? std::fabs(below[k]) : most[k];
      differ[k] |= below[k] != above[k];
    }
  }
#endif
};

/// One look at the matrices of a stack, square by square, which sums them up as well.
template <class Value>
class StackLook {
 public:
  double *most, *diagonals, *factors, *sum;  // `sum` holds zeros, and gets the lower half of the sum, row after row
  bool* same;                                // whether a matrix is its transpose

  StackLook(double* most_of, double* diagonals_of, double* factors_of, double* sum_of, bool* same_of)
      : most(most_of), diagonals(diagonals_of), factors(factors_of), sum(sum_of), same(same_of) {}

  /// Of the matrices that begin so far apart.
  void take(const Strided<Value>& first, index_t n_matrices, index_t apart) {
    for (index_t top = 0; top < first.n_rows; top += kSquare)
      for (index_t left = 0; left <= top; left += kSquare) squares.emplace_back(top, left);
    for (index_t q = 0; q < n_matrices; ++q) {
      Strided<Value> here = first;
      here.values += q * apart;
      if (here.row_step == 1) std::swap(here.row_step, here.column_step);  // halves change places, and are treated alike
      const bool near = here.column_step == 1 && here.row_step == here.n_rows && here.n_rows * here.n_rows <= 2 * kNear;
      const index_t size = near && q + 1 < n_matrices ? here.n_rows * here.n_rows : 0;  // of the next one, to be brought near
      double trace = 0;
      for (index_t i = 0; i < here.n_rows; ++i) trace += diagonals[q * here.n_rows + i] = static_cast<double>(here.at(i, i));
      factors[q] = trace > 0 && std::isfinite(1 / trace) ? 1 / trace : 0;
      SquareNotes notes;
      const Value* const next = size > 0 ? here.values + apart : here.values;
      if (here.column_step == 1 && columns_detail::wide()) look_wide(here, next, size, factors[q], notes);
      else look(here, here.column_step, next, size, factors[q], notes);
      finish(here, notes, q);
    }
  }

 private:
  std::vector<std::pair<index_t, index_t>> squares;

  THRESHER_INLINE void look(const Strided<Value>& m, index_t along, const Value* next, index_t size, double factor,
                            SquareNotes& found) {
    const index_t n = m.n_rows, down = m.row_step;
    constexpr index_t per_line = 64 / sizeof(Value);
    const Value* const last = next + size;
    SquareNotes notes;  // of its own, so that it stays in registers
    const auto n_squares = static_cast<index_t>(squares.size());
    for (index_t s = 0; s < n_squares; ++s) {
      const auto [top, left] = squares[static_cast<std::size_t>(s)];
      for (index_t i = top; i < std::min(n, top + kSquare); ++i) {
        const Value *const row = m.values + i * down, *const mirrored = m.values + i * along;
        double* const out = sum + i * (i + 1) / 2;
        const index_t end = std::min(i + 1, left + kSquare);
        for (index_t line = 0; next < last && line < 4; ++line, next += per_line) prefetch_line(next);
        if (size == 0) {  // what the square after the next will read
          const index_t later = left + 2 * kSquare;
          const Value* const other = m.values + std::min(n - 1, later + i - top) * down;
          for (index_t k = 0; k < kSquare; k += per_line) {
            prefetch_line(row + std::min(n - 1, later + k) * along);
            prefetch_line(other + std::min(n - 1, top + k) * along);
          }
        }
        index_t j = left;
        for (; j + 4 <= end; j += 4) {
          Four below, above, to;
          take_four(row + j * along, along, below);
          take_four(mirrored + j * down, down, above);
          columns_detail::load(out + j, to);
          note(below, above, factor, notes, to);
          std::memcpy(out + j, &to, sizeof to);
        }
        if (j == end) continue;
        double parts[3][4] = {};
        for (index_t k = 0; j + k < end; ++k) {
          parts[0][k] = static_cast<double>(row[(j + k) * along]);
          parts[1][k] = static_cast<double>(mirrored[(j + k) * down]);
          parts[2][k] = out[j + k];
        }
        Four below, above, to;
        columns_detail::load(parts[0], below);
        columns_detail::load(parts[1], above);
        columns_detail::load(parts[2], to);
        note(below, above, factor, notes, to);
        std::memcpy(parts[2], &to, sizeof to);
        for (index_t k = 0; j + k < end; ++k) out[j + k] = parts[2][k];
      }
    }
    found = notes;
  }
#if defined(__x86_64__) && THRESHER_GNU
  [[gnu::target("avx2")]]
#endif
  void look_wide(const Strided<Value>& m, const Value* next, index_t size, double factor, SquareNotes& notes) {
    look(m, 1, next, size, factor, notes);
  }

  THRESHER_INLINE static void take_four(const Value* from, index_t step, Four& to) {
    to = Four{static_cast<double>(from[0]), static_cast<double>(from[step]), static_cast<double>(from[2 * step]),
              static_cast<double>(from[3 * step])};
  }
  THRESHER_INLINE static void note(const Four& below, const Four& above, double factor, SquareNotes& notes, Four& to) {
    notes.take(below, above);
    Four both = below;
    both += above;
    to += factor * (0.5 * both);
  }
  void finish(const Strided<Value>& m, const SquareNotes& notes, index_t q) {
    bool differ = false, defined = true;
    auto largest = static_cast<Value>(notes.most[0]);
    for (int k = 0; k < 4; ++k) {
      differ |= notes.differ[k] != 0;
      largest = std::max(largest, static_cast<Value>(notes.most[k]));
    }
    if (differ)  // what is no number differs from itself
      for (index_t i = 0; i < m.n_rows; ++i)
        for (index_t j = 0; j < m.n_columns; ++j) {
          defined &= !std::isnan(m.at(i, j));
          largest = std::max(largest, static_cast<Value>(std::fabs(m.at(i, j))));
        }
    most[q] = defined ? static_cast<double>(largest) : std::numeric_limits<double>::quiet_NaN();
    same[q] = !differ;
  }
};

/// Whether a matrix is its transpose, but for rounding.
template <class Value>
bool nearly_symmetric(const Strided<Value>& matrix, double atol, double rtol) {
  const Value least = static_cast<Value>(atol), part = static_cast<Value>(rtol);
  bool near = true;
  each_pair(matrix, [&](Value below, Value above) {
    near &= std::fabs(below - above) <= least + part * std::min(std::fabs(below), std::fabs(above));
  });
  return near;
}

/// Calls put(k, entry) for the entries of a row at n places.
template <class Value, class Put>
void each_of_row(const Value* row, index_t step, const index_t* places, index_t n, Put put) {
  if (step == 1)
    for (index_t k = 0; k < n; ++k) put(k, static_cast<double>(row[places[k]]));
  else
    for (index_t k = 0; k < n; ++k) put(k, static_cast<double>(row[places[k] * step]));
}

/// The lower half of the matrix between some rows, row after row; the mean with its mirror image if they differ.
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

/// Adds the matrix between some rows and some columns, times a weight.
template <class Value>
void add_block(const Strided<Value>& matrix, double weight, const index_t* rows, index_t n_rows, const index_t* columns,
               index_t n_columns, double* out) {
  for (index_t a = 0; a < n_rows; ++a, out += n_columns)
    each_of_row(matrix.values + rows[a] * matrix.row_step, matrix.column_step, columns, n_columns,
                [=](index_t b, double entry) { out[b] += weight * entry; });
}

/// Numbers that lie in one piece in a matrix, and where they go.
struct Piece { index_t from, length, to; };

namespace pieces_detail {

/// to += a_0 x_0 + ... + a_3 x_3, one after the other
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

/// Adds pieces of matrices, which begin so far apart, times their weights. Matrices without weight are not read.
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
        for (std::size_t l = 0; l < 4; ++l) {  // what is missing of four counts nothing
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

/// x_i x_j for the lower half of a matrix, row after row, and half of that on the diagonal.
inline void half_products(const double* x, index_t n, double* out) {
  for (index_t i = 0; i < n; out += ++i) {
    for (index_t j = 0; j < i; ++j) out[j] = x[i] * x[j];
    out[i] = 0.5 * x[i] * x[i];
  }
}

/// The symmetric matrix of a lower half.
inline void from_half(const double* half, index_t n, double* matrix) {
  for (index_t i = 0; i < n; half += ++i) std::copy_n(half, i + 1, matrix + i * n);
  for (index_t top = 0; top < n; top += kSquare)
    for (index_t left = 0; left <= top; left += kSquare)
      for (index_t j = left; j < std::min(n, left + kSquare); ++j)
        for (index_t i = std::max(top, j + 1); i < std::min(n, top + kSquare); ++i) matrix[j * n + i] = matrix[i * n + j];
}

}  // namespace thresher
