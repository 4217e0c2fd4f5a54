// Several pieces of the same rows -> one sparse matrix: columns sorted and unique, entries of one column added.
#pragma once

#include <algorithm>
#include <utility>
#include <variant>
#include <vector>

#include "growing.hpp"

namespace thresher {

/// Sparse rows.
struct CsrPiece {
  const double* values;
  const std::int32_t* columns;
  const std::int64_t* starts;

  template <class Add> void each(std::int64_t i, Add add) const {
    for (std::int64_t k = starts[i]; k < starts[i + 1]; ++k) add(columns[k], values[k]);
  }
};

/// Dense rows. Zeros and missing values are left out.
template <class T> struct DensePiece {
  const T* values;
  std::int64_t width;

  template <class Add> void each(std::int64_t i, Add add) const {
    for (std::int64_t j = 0; j < width; ++j) {
      const double value = values[i * width + j];
      if (value != 0 && value == value) add(static_cast<std::int32_t>(j), value);
    }
  }
};

/// A single 1 in each row, or nothing if its column is negative.
struct OnesPiece {
  const std::int32_t* columns;

  template <class Add> void each(std::int64_t i, Add add) const {
    if (columns[i] >= 0) add(columns[i], 1.0);
  }
};

/// A piece of rows, and the column at which it starts.
struct RowPiece {
  std::variant<CsrPiece, DensePiece<double>, DensePiece<float>, OnesPiece> rows;
  std::int32_t first;
};

template <class Value> struct CsrWhole {
  Growing<Value> values;
  Growing<std::int32_t> columns;
  Growing<std::int64_t> starts;
};

template <class Value>
void side_by_side(const std::vector<RowPiece>& pieces, std::int64_t n_rows, CsrWhole<Value>& out) {
  std::vector<std::pair<std::int32_t, double>> row;
  out.starts.push(0);
  for (std::int64_t i = 0; i < n_rows; ++i) {
    row.clear();
    bool sorted = true;
    for (const RowPiece& piece : pieces) {
      const auto add = [&, first = piece.first](std::int32_t column, double value) {
        sorted &= row.empty() || row.back().first < first + column;
        row.emplace_back(first + column, value);
      };
      std::visit([&](const auto& rows) { rows.each(i, add); }, piece.rows);
    }
    if (!sorted) std::stable_sort(row.begin(), row.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    Value* const values = out.values.room(row.size());
    std::int32_t* const columns = out.columns.room(row.size());
    std::size_t n = 0;
    for (std::size_t k = 0; k < row.size(); ++n) {
      double sum = 0;
      const std::int32_t column = row[k].first;
      for (; k < row.size() && row[k].first == column; ++k) sum += row[k].second;
      columns[n] = column;
      values[n] = static_cast<Value>(sum);
    }
    out.values.commit(n);
    out.columns.commit(n);
    out.starts.push(static_cast<std::int64_t>(out.columns.size()));
  }
}

}  // namespace thresher
