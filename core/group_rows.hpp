// The rows of a batch over groups of chosen columns. Each row stores only the groups in which it has a value.
#pragma once
#include <cstdint>
#include <vector>

#include "compiler.hpp"
#include "rows.hpp"

namespace thresher {

/// `free` columns that every row has, and groups that are added one by one. The values of a group are stored row after row, so a
/// loop over all rows reads each group sequentially. Bit masks mark the groups that have a row.
class GroupRows {
 public:
  GroupRows(const double* fixed, index_t n, index_t n_free) : n_rows(n), free(n_free), fixed_(fixed, fixed + n * n_free) {}

  const index_t n_rows, free;

  index_t n_groups() const { return static_cast<index_t>(values_.size()); }
  /// The columns of all groups follow each other, behind the free ones.
  index_t begin(index_t k) const { return k ? ends_[k - 1] : free; }
  index_t end(index_t k) const { return ends_[k]; }
  index_t width() const { return ends_.empty() ? free : ends_.back(); }

  /// Adds a group of this width with values in these rows, which must increase.
  void add(const double* values, const index_t* rows, index_t n, index_t width) {
    const index_t k = n_groups();
    if (k % 64 == 0) has_.emplace_back(n_rows, 0);
    for (index_t i = 0; i < n; ++i) has_.back()[rows[i]] |= std::uint64_t{1} << k % 64;
    ends_.push_back(begin(k) + width);
    values_.emplace_back(values, values + n * width);
  }

  /// Iterates over all rows, from the first to the last.
  class Walk {
   public:
    struct Met {
      index_t group;
      const double* values;
    };
    explicit Walk(const GroupRows& rows) : rows_(rows), next_(rows.values_.size()), met_(rows.values_.size()) {
      for (std::size_t k = 0; k < next_.size(); ++k) next_[k] = rows.values_[k].data();
    }
    /// Advances to the next row.
    void step() {
      ++row_;
      n_met_ = 0;
      index_t first = 0;
      for (const auto& has : rows_.has_) {
        for (std::uint64_t left = has[row_]; left != 0; left &= left - 1) {
          const index_t k = first + trailing_zeros(left);
          met_[n_met_++] = {k, next_[k]};
          next_[k] += rows_.end(k) - rows_.begin(k);
        }
        first += 64;
      }
    }
    const double* fixed() const { return rows_.fixed_.data() + row_ * rows_.free; }
    const Met* begin() const { return met_.data(); }
    const Met* end() const { return met_.data() + n_met_; }
    bool empty() const { return n_met_ == 0; }

   private:
    const GroupRows& rows_;
    std::vector<const double*> next_;
    std::vector<Met> met_;
    index_t row_ = -1;
    std::size_t n_met_ = 0;
  };

 private:
  std::vector<double> fixed_;
  std::vector<index_t> ends_;
  std::vector<std::vector<double>> values_;
  std::vector<std::vector<std::uint64_t>> has_;  // for every 64 groups, one mask per row
};

}  // namespace thresher
