// A single row, with its values in column order, as a matrix of one row.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace thresher {

class OneRow {
 public:
  void clear() {
    columns_.clear();
    values_.clear();
    in_order_ = true;
  }
  void add(index_t column, double value) {
    const auto j = static_cast<column_t>(column);
    in_order_ = in_order_ && (columns_.empty() || columns_.back() < j);
    columns_.push_back(j);
    values_.push_back(value);
  }

  /// Sorts the columns. Returns false if one of them occurs twice.
  bool close() {
    ends_[1] = static_cast<index_t>(columns_.size());
    return in_order_ || sort();
  }

  std::size_t size() const { return columns_.size(); }
  const std::vector<column_t>& columns() const { return columns_; }
  const std::vector<double>& values() const { return values_; }
  CsrRows<double, column_t> as_matrix(index_t n_features) const {
    return {values_.data(), columns_.data(), ends_, 1, n_features};
  }

 private:
  bool sort() {
    items_.clear();
    for (std::size_t k = 0; k < columns_.size(); ++k) items_.emplace_back(columns_[k], values_[k]);
    std::sort(items_.begin(), items_.end(), [](const Item& a, const Item& b) { return a.first < b.first; });
    for (std::size_t k = 0; k < items_.size(); ++k) {
      if (k > 0 && items_[k].first == columns_[k - 1]) return false;
      columns_[k] = items_[k].first;
      values_[k] = items_[k].second;
    }
    return true;
  }

  using Item = std::pair<column_t, double>;
  std::vector<Item> items_;
  std::vector<column_t> columns_;
  std::vector<double> values_;
  index_t ends_[2] = {0, 0};
  bool in_order_ = true;
};

}  // namespace thresher
