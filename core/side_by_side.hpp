// Several sparse pieces of the same rows -> one: columns sorted and unique, entries of one column added.
#pragma once

#include <algorithm>
#include <utility>
#include <vector>

#include "growing.hpp"

namespace thresher {

struct CsrPiece {
  const double* values;
  const std::int32_t* columns;
  const std::int64_t* starts;
};

template <class Value> struct CsrWhole {
  Growing<Value> values;
  Growing<std::int32_t> columns;
  Growing<std::int64_t> starts;
};

template <class Value>
void side_by_side(const std::vector<CsrPiece>& pieces, std::int64_t n_rows, CsrWhole<Value>& out) {
  std::vector<std::pair<std::int32_t, double>> row;
  out.starts.push(0);
  for (std::int64_t i = 0; i < n_rows; ++i) {
    row.clear();
    bool sorted = true;
    for (const CsrPiece& piece : pieces)
      for (std::int64_t k = piece.starts[i]; k < piece.starts[i + 1]; ++k) {
        sorted &= row.empty() || row.back().first < piece.columns[k];
        row.emplace_back(piece.columns[k], piece.values[k]);
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
