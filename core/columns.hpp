// Selected columns of rows, for learners that keep few features and take a whole batch at a time.
#pragma once
#include <algorithm>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace thresher {

/// The position of a column among the chosen ones. If there are more queries than columns, this is a table of all columns;
/// otherwise it is a sparsely filled hash table, which needs about one probe per query.
class Places {
 public:
  Places(const index_t* columns, index_t n, index_t n_columns, index_t n_questions) {
    if (n_columns < n_questions) {
      all_.assign(static_cast<std::size_t>(n_columns), -1);
      for (index_t k = n - 1; k >= 0; --k) all_[columns[k]] = static_cast<std::int32_t>(k);
      return;
    }
    while ((std::size_t{1} << bits_) < 4 * static_cast<std::size_t>(n)) ++bits_;
    table_.assign(std::size_t{1} << bits_, {-1, -1});
    for (index_t k = 0; k < n; ++k) {
      std::size_t at = slot(columns[k]);
      while (table_[at].place >= 0) at = (at + 1) & (table_.size() - 1);
      table_[at] = {columns[k], k};
    }
  }
  /// -1 for a column that was not chosen.
  index_t of(index_t column) const {
    if (!all_.empty()) return all_[column];
    for (std::size_t at = slot(column);; at = (at + 1) & (table_.size() - 1))
      if (table_[at].column == column || table_[at].place < 0) return table_[at].place;
  }

 private:
  struct Entry { index_t column, place; };
  int bits_ = 4;
  std::vector<Entry> table_;
  std::vector<std::int32_t> all_;

  std::size_t slot(index_t column) const {
    return static_cast<std::size_t>((static_cast<std::uint64_t>(column) * 0x9E3779B97F4A7C15u) >> (64 - bits_));
  }
};

template <class Value>
void take_columns(const DenseRows<Value>& rows, double bias, const index_t* columns, index_t n, double* out) {
  for (index_t i = 0; i < rows.n_rows; ++i)
    for (index_t k = 0; k < n; ++k)
      out[i * n + k] = columns[k] == rows.n_features ? bias : static_cast<double>(rows.values[i * rows.n_features + columns[k]]);
}

/// Dense values of the chosen columns, row by row; column n_features is the constant. `out` must hold zeros.
template <class Value, class Column>
void take_columns(const CsrRows<Value, Column>& rows, double bias, const index_t* columns, index_t n, double* out) {
  const Places places(columns, n, rows.n_features + 1, rows.n_values());
  const index_t constant = places.of(rows.n_features);
  for (index_t i = 0; i < rows.n_rows; ++i) {
    double* row = out + i * n;
    rows.row(i, 0).each([&](index_t j, double xj) {
      const index_t k = places.of(j);
      if (k >= 0) row[k] = xj;
    });
    if (constant >= 0) row[constant] = bias;
  }
}

/// The values of the chosen columns that sparse rows store, row by row, each with the position of its column. The constant comes
/// first.
template <class Value, class Column, class Write>
void each_taken(const CsrRows<Value, Column>& rows, double bias, const index_t* columns, index_t n, Write write) {
  const Places places(columns, n, rows.n_features + 1, rows.n_values());
  const index_t constant = places.of(rows.n_features);
  for (index_t i = 0; i < rows.n_rows; ++i) {
    if (constant >= 0 && bias != 0) write(i, constant, bias);
    rows.row(i, 0).each([&](index_t j, double xj) {
      const index_t k = places.of(j);
      if (k >= 0) write(i, k, xj);
    });
  }
}

/// out += sum_i weight_i x_i x_i', for all pairs of columns.
template <class Value, class Column>
void add_products(const CsrRows<Value, Column>& rows, const double* weight, double* out) {
  for (index_t i = 0; i < rows.n_rows; ++i) {
    if (weight[i] == 0) continue;
    const auto x = rows.row(i, 0);
    x.each([&](index_t j, double xj) {
      double* const row = out + j * rows.n_features;
      const double share = weight[i] * xj;
      x.each([&](index_t k, double xk) { row[k] += share * xk; });
    });
  }
}

/// first_j += sum_i a_i x_ij and second_j += sum_i b_i x_ij^2, for all features except the constant.
template <class AllRows>
void add_columns(const AllRows& rows, const double* a, const double* b, double* first, double* second) {
  for (index_t i = 0; i < rows.n_rows; ++i) {
    if (a[i] == 0 && b[i] == 0) continue;
    rows.row(i, 0).each([&](index_t j, double xj) {
      first[j] += a[i] * xj;
      second[j] += b[i] * xj * xj;
    });
  }
}

/// The same values column by column, in row order: those of column j from starts[j] to starts[j + 1], and the sum of their
/// squares. `starts`, one longer than the number of columns, and `squares` must hold zeros.
template <class Value, class Column>
void by_columns(const CsrRows<Value, Column>& rows, index_t* starts, std::int32_t* row_of, double* values, double* squares) {
  index_t* const ends = starts + 1;
  for (index_t i = 0; i < rows.n_rows; ++i) rows.row(i, 0).each([&](index_t j, double) { ++ends[j]; });
  index_t total = 0;
  for (index_t j = 0; j < rows.n_features; ++j) {  // the start of each column; adding values moves it to the column's end
    const index_t n = ends[j];
    ends[j] = total;
    total += n;
  }
  for (index_t i = 0; i < rows.n_rows; ++i) {
    if (i + 1 < rows.n_rows)
      rows.row(i + 1, 0).each([&](index_t j, double) {
        prefetch_line(row_of + ends[j]);
        prefetch_line(values + ends[j]);
      });
    rows.row(i, 0).each([&](index_t j, double xj) {
      const index_t at = ends[j]++;
      row_of[at] = static_cast<std::int32_t>(i);
      values[at] = xj;
      squares[j] += xj * xj;
    });
  }
}

/// The n columns with the largest scores among those that are left, the largest first, and of equal ones the first. Columns
/// without a score are left out. Returns how many there are.
inline index_t best_columns(const double* scores, const bool* left, index_t n_columns, index_t n, index_t* out) {
  const auto better = [scores](index_t j, index_t k) { return scores[j] > scores[k] || (scores[j] == scores[k] && j < k); };
  index_t found = 0;
  for (index_t j = 0; j < n_columns && n > 0; ++j) {
    if (!left[j] || scores[j] != scores[j]) continue;
    if (found == n) {  // out is a heap with the smallest score in front
      if (!(scores[j] > scores[out[0]])) continue;
      std::pop_heap(out, out + found--, better);
    }
    out[found++] = j;
    std::push_heap(out, out + found, better);
  }
  std::sort_heap(out, out + found, better);
  return found;
}

}  // namespace thresher
