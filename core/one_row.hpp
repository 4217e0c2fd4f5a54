// A row that comes by itself: values in the order of their columns, as a matrix of one row.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace thresher {

class OneRow {
 public:
  void clear() { items_.clear(); }
  void add(index_t column, double value) { items_.emplace_back(column, value); }

  /// Puts the columns in order; false if one of them comes twice.
  bool close() {
    const auto before = [](const Item& a, const Item& b) { return a.first < b.first; };
    if (!std::is_sorted(items_.begin(), items_.end(), before)) std::sort(items_.begin(), items_.end(), before);
    const auto same = [](const Item& a, const Item& b) { return a.first == b.first; };
    if (std::adjacent_find(items_.begin(), items_.end(), same) != items_.end()) return false;
    columns_.resize(items_.size());
    values_.resize(items_.size());
    for (std::size_t k = 0; k < items_.size(); ++k) {
      columns_[k] = static_cast<column_t>(items_[k].first);
      values_[k] = items_[k].second;
    }
    ends_[1] = static_cast<index_t>(items_.size());
    return true;
  }

  std::size_t size() const { return items_.size(); }
  const std::vector<column_t>& columns() const { return columns_; }
  const std::vector<double>& values() const { return values_; }
  CsrRows<double, column_t> as_matrix(index_t n_features) const {
    return {values_.data(), columns_.data(), ends_, 1, n_features};
  }

 private:
  using Item = std::pair<index_t, double>;
  std::vector<Item> items_;
  std::vector<column_t> columns_;
  std::vector<double> values_;
  index_t ends_[2] = {0, 0};
};

}  // namespace thresher
