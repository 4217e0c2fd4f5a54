// The best columns of a batch by a score of their sums, without summing columns that cannot be among them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows.hpp"

namespace thresher {

/// Sparse rows column by column: column j has the values from starts[j] to starts[j + 1], in row order.
struct ColumnStore {
  index_t n_rows, n_columns;
  const index_t* starts;
  const std::int32_t* row_of;
  const double *values, *squares;  // squares: the sum of each column's

  double dot(index_t j, const double* share) const {
    double sum = 0;
    for (index_t k = starts[j]; k < starts[j + 1]; ++k) sum += values[k] * share[row_of[k]];
    return sum;
  }
};

/// Scores are m_j = s_j (s_j / P_j + 2 mu_j) with s = X' u. The coefficients u change less and less from one question to the
/// next, and by Cauchy and Schwarz
///
///     |s_j(u) - s_j(u')| <= |u - u'| |x_j|,
///
/// so that a column is summed again only if this bound, along the way that u has gone since, lets it be among the best, or if
/// mu_j is not 0. The answers are those of all sums, bit for bit: sums that are not needed are the only difference.
class ColumnSearch {
 public:
  ColumnSearch(const ColumnStore& columns, const double* precision, const double* mean)
      : columns_(columns), precision_(precision, precision + columns.n_columns), mean_(mean, mean + columns.n_columns),
        base_(columns.n_columns, infinity), slope_(columns.n_columns), asked_(columns.n_columns), last_(columns.n_rows) {
    for (index_t j = 0; j < columns.n_columns; ++j) slope_[j] = std::sqrt(columns.squares[j] / precision[j]);
  }

  index_t n_rows() const { return columns_.n_rows; }
  index_t n_columns() const { return columns_.n_columns; }

  /// The n columns with the largest scores of those that are left, the largest first; of equal ones the first, and none without a
  /// score. Returns how many there are.
  index_t best(const double* share, const bool* left, index_t n, index_t* out) {
    travel(share);
    if (n == 0) return 0;
    sum_promising(share, left, n);
    double least = -infinity;
    if (static_cast<index_t>(found_.size()) >= n) {
      std::nth_element(found_.begin(), found_.begin() + (n - 1), found_.end());
      least = found_[n - 1].score;
    }
    const double wanted = least > 0 ? (1 - rounding) * std::sqrt(least) : -infinity;
    for (index_t j = 0; j < n_columns(); ++j)
      if (!(most(j) < wanted) && left[j] && asked_[j] != now_) sum(j, share);
    const auto n_found = std::min(n, static_cast<index_t>(found_.size()));
    const auto n_kept = std::min(ahead * n, static_cast<index_t>(found_.size()));
    std::partial_sort(found_.begin(), found_.begin() + n_kept, found_.end());
    for (index_t k = 0; k < n_found; ++k) out[k] = found_[k].column;
    promising_.clear();
    for (index_t k = n_found; k < n_kept; ++k) promising_.push_back(found_[k].column);
    return n_found;
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double rounding = 1e-9;  // more than that of any sum
  static constexpr index_t ahead = 8;       // how many times as many columns as are asked for are kept as promising

  struct Found {
    double score;
    index_t column;

    bool operator<(const Found& other) const { return score != other.score ? score > other.score : column < other.column; }
  };

  void travel(const double* share) {
    double moved = 0, size = 0;
    for (index_t i = 0; i < n_rows(); ++i) {
      moved += (share[i] - last_[i]) * (share[i] - last_[i]);
      size += share[i] * share[i];
      last_[i] = share[i];
    }
    way_ += std::sqrt(moved);
    longest_ = std::max(longest_, std::sqrt(size));
    ++now_;
  }
  /// The root of the largest score that a column can have; infinite or not a number if nothing is known.
  double most(index_t j) const { return base_[j] + way_ * slope_[j]; }

  void sum(index_t j, const double* share) {
    const double s = columns_.dot(j, share), score = s * (s / precision_[j] + 2.0 * mean_[j]);
    if (mean_[j] == 0) base_[j] = std::fabs(s) / std::sqrt(precision_[j]) - (way_ - rounding * longest_) * slope_[j];
    asked_[j] = now_;
    if (score == score) found_.push_back({score, j});
  }
  /// Sums the best ones of the last question that are left, or those that may score most: others have to be as good.
  void sum_promising(const double* share, const bool* left, index_t n) {
    found_.clear();
    promising_.erase(std::remove_if(promising_.begin(), promising_.end(), [left](index_t j) { return !left[j]; }),
                     promising_.end());
    if (static_cast<index_t>(promising_.size()) < n && now_ > 1) {
      for (index_t j = 0; j < n_columns(); ++j)
        if (const double root = most(j); left[j] && root < infinity) found_.push_back({root, j});
      const auto n_kept = std::min(ahead * n, static_cast<index_t>(found_.size()));
      std::partial_sort(found_.begin(), found_.begin() + n_kept, found_.end());
      promising_.clear();
      for (index_t k = 0; k < n_kept; ++k) promising_.push_back(found_[k].column);
      found_.clear();
    }
    for (const index_t j : promising_) sum(j, share);
  }

  const ColumnStore& columns_;
  std::vector<double> precision_, mean_;
  std::vector<double> base_, slope_;  // of the root of the largest score, along the way of the coefficients
  std::vector<index_t> asked_;        // the last question to which a column was summed
  std::vector<double> last_;
  std::vector<Found> found_;
  std::vector<index_t> promising_;
  double way_ = 0, longest_ = 0;
  index_t now_ = 0;
};

}  // namespace thresher
