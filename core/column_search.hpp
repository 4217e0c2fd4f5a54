// Finds the columns of a batch with the best scores, without summing columns that cannot be among them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "rows.hpp"

namespace thresher {

/// Sparse rows stored by columns: column j has the values from starts[j] to starts[j + 1], in row order.
struct ColumnStore {
  index_t n_rows, n_columns;
  const index_t* starts;
  const std::int32_t* row_of;
  const double *values, *squares;  // squares: the sum of squares of each column

  double dot(index_t j, const double* share) const {
    double sum = 0;
    for (index_t k = starts[j]; k < starts[j + 1]; ++k) sum += values[k] * share[row_of[k]];
    return sum;
  }
};

/// Scores are m_j = s_j (s_j / P_j + 2 mu_j) with s = X' u. The coefficients u change less and less from one call to the next,
/// and by the Cauchy-Schwarz inequality
///
///     |s_j(u) - s_j(u')| <= |u - u'| |x_j|.
///
/// The bounds add up over the changes of u since a column was last summed. It is summed again only if they let it be among the
/// best, or if mu_j is not 0. Results are bit for bit those of summing all columns.
class ColumnSearch {
 public:
  ColumnSearch(const ColumnStore& columns, const double* precision, const double* mean)
      : columns_(columns), precision_(precision, precision + columns.n_columns), mean_(mean, mean + columns.n_columns),
        base_(columns.n_columns, infinity), slope_(columns.n_columns), asked_(columns.n_columns), last_(columns.n_rows) {
    for (index_t j = 0; j < columns.n_columns; ++j) slope_[j] = std::sqrt(columns.squares[j] / precision[j]);
  }

  index_t n_rows() const { return columns_.n_rows; }
  index_t n_columns() const { return columns_.n_columns; }

  /// The n columns with the largest scores among those with left[j], the largest first, ties to the first column. Columns whose
  /// score is NaN are skipped. Returns the number of columns found.
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
  static constexpr double rounding = 1e-9;  // more than the relative rounding error of any sum
  static constexpr index_t ahead = 8;       // `ahead` times as many columns as requested are kept as promising

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
  /// The root of the largest score that a column can have; infinite or NaN if it is unknown.
  double most(index_t j) const { return base_[j] + way_ * slope_[j]; }

  void sum(index_t j, const double* share) {
    const double s = columns_.dot(j, share), score = s * (s / precision_[j] + 2.0 * mean_[j]);
    if (mean_[j] == 0) base_[j] = std::fabs(s) / std::sqrt(precision_[j]) - (way_ - rounding * longest_) * slope_[j];
    asked_[j] = now_;
    if (score == score) found_.push_back({score, j});
  }
  /// Sums the best remaining columns of the last call, or those with the largest bounds. The others must reach their scores.
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
  std::vector<double> base_, slope_;  // the bound on the root of a score is base + way slope
  std::vector<index_t> asked_;        // the last call in which a column was summed
  std::vector<double> last_;
  std::vector<Found> found_;
  std::vector<index_t> promising_;
  double way_ = 0, longest_ = 0;
  index_t now_ = 0;
};

}  // namespace thresher
