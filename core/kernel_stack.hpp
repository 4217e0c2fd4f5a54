// Square matrices in a stack: one look at each before it is trusted, and parts of it in double precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "rows.hpp"

namespace thresher {

/// A matrix of any layout.
template <class Value>
struct Strided {
  const Value* values;
  index_t n_rows, n_columns, row_step, column_step;

  Value at(index_t i, index_t j) const { return values[i * row_step + j * column_step]; }
};

struct SquareLook {
  double most = 0;                                         // the largest |value|; NaN where one is
  bool same = true;                                        // whether it is its transpose
  double least = std::numeric_limits<double>::infinity();  // on the diagonal
};

constexpr index_t kSquare = 16;  // rows and columns that are compared with their mirror image at a time

/// Calls visit(value, mirrored value) for every entry below the diagonal and on it, square by square.
template <class Value, class Visit>
void each_pair(const Strided<Value>& matrix, Visit visit) {
  const index_t n = matrix.n_rows, down = matrix.row_step, across = matrix.column_step;
  const auto squares = [&](index_t along) {  // 1 where entries of a row lie side by side, for the compiler to know
    for (index_t top = 0; top < n; top += kSquare)
      for (index_t left = 0; left <= top; left += kSquare)
        for (index_t i = top; i < std::min(n, top + kSquare); ++i) {
          const Value *const row = matrix.values + i * down, *const mirrored = matrix.values + i * along;
          for (index_t j = left, end = std::min(n, left + kSquare); j < end; ++j) visit(row[j * along], mirrored[j * down]);
        }
  };
  if (across == 1) squares(1);
  else squares(across);
}

template <class Value>
SquareLook look_at_square(const Strided<Value>& matrix) {
  SquareLook found;
  bool defined = true;
  int differ = 0;
  Value most[8] = {};  // in the order of memory, which brings a matrix near for the squares
  const auto note = [&](index_t k, Value value) {
    const Value size = std::fabs(value);
    most[k] = size > most[k] ? size : most[k];
  };
  for (index_t i = 0; i < matrix.n_rows; ++i) {
    found.least = std::min(found.least, static_cast<double>(matrix.at(i, i)));
    const Value* const row = matrix.values + i * matrix.row_step;
    index_t j = 0;
    if (matrix.column_step == 1)
      for (; j + 8 <= matrix.n_columns; j += 8)
        for (index_t k = 0; k < 8; ++k) note(k, row[j + k]);
    for (; j < matrix.n_columns; ++j) note(0, matrix.at(i, j));
  }
  each_pair(matrix, [&](Value below, Value above) { differ |= below != above; });
  found.same = !differ;
  found.most = static_cast<double>(*std::max_element(most, most + 8));
  if (differ)  // what is no number differs from itself, and is above nothing
    for (index_t i = 0; i < matrix.n_rows; ++i)
      for (index_t j = 0; j < matrix.n_columns; ++j) defined &= !std::isnan(matrix.at(i, j));
  if (!defined) found.most = std::numeric_limits<double>::quiet_NaN();
  return found;
}

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

/// The lower half of the matrix between some rows, row after row, times a factor; the mean with its mirror image if they differ.
template <class Value>
void take_half(const Strided<Value>& matrix, const index_t* places, index_t n, double factor, bool same, double* out) {
  for (index_t a = 0; a < n; ++a) {
    const Value* const row = matrix.values + places[a] * matrix.row_step;
    const Value* const mirrored = matrix.values + places[a] * matrix.column_step;
    if (same)
      for (index_t b = 0; b <= a; ++b) *out++ = factor * static_cast<double>(row[places[b] * matrix.column_step]);
    else
      for (index_t b = 0; b <= a; ++b)
        *out++ = factor * (0.5 * (static_cast<double>(row[places[b] * matrix.column_step]) +
                                  static_cast<double>(mirrored[places[b] * matrix.row_step])));
  }
}

/// The matrix between some rows and some columns.
template <class Value>
void take_block(const Strided<Value>& matrix, const index_t* rows, index_t n_rows, const index_t* columns, index_t n_columns,
                double* out) {
  for (index_t a = 0; a < n_rows; ++a) {
    const Value* const row = matrix.values + rows[a] * matrix.row_step;
    for (index_t b = 0; b < n_columns; ++b) *out++ = static_cast<double>(row[columns[b] * matrix.column_step]);
  }
}

}  // namespace thresher
