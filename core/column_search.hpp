// The best columns of a batch by a score of their sums, without summing columns that cannot be among them.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include "columns.hpp"

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
/// so that a column is summed again only if this bound, along the way that u has gone since, lets it be among the best. The
/// answers are those of all sums, bit for bit: sums that are not needed are the only difference.
class ColumnSearch {
 public:
  ColumnSearch(const ColumnStore& columns, const double* precision, const double* mean)
      : columns_(columns), precision_(precision, precision + columns.n_columns), mean_(mean, mean + columns.n_columns),
        sums_(columns.n_columns), when_(columns.n_columns, -infinity), keys_(columns.n_columns), last_(columns.n_rows),
        asked_(columns.n_columns) {}

  index_t n_rows() const { return columns_.n_rows; }
  index_t n_columns() const { return columns_.n_columns; }

  /// The n columns with the largest scores of those that are left, the largest first; of equal ones the first, and none without a
  /// score. Returns how many there are.
  index_t best(const double* share, const bool* left, index_t n, index_t* out) {
    travel(share);
    for (index_t j = 0; j < n_columns(); ++j) keys_[j] = left[j] ? most(j) : 0;
    double least = -infinity;
    const index_t n_first = best_columns(keys_.data(), left, n_columns(), n, out);
    if (n > 0 && n_first == n) {  // all others have to be as good as the worst of the most promising ones
      least = infinity;
      for (index_t k = 0; k < n; ++k) least = std::min(least, score(out[k], share));
    }
    for (index_t j = 0; j < n_columns(); ++j)
      if (left[j]) keys_[j] = keys_[j] < least ? std::numeric_limits<double>::quiet_NaN() : score(j, share);
    return best_columns(keys_.data(), left, n_columns(), n, out);
  }

 private:
  static constexpr double infinity = std::numeric_limits<double>::infinity();
  static constexpr double rounding = 1e-9;  // more than that of any sum

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
  /// The largest score that a column can have; infinite if nothing is known.
  double most(index_t j) const {
    const double moved = (way_ - when_[j] + rounding * longest_) * std::sqrt(columns_.squares[j]),
                 sum = std::fabs(sums_[j]) + moved;
    const double found = (1 + rounding) * sum * (sum / precision_[j] + 2 * std::fabs(mean_[j]));
    return found == found ? found : infinity;
  }
  double score(index_t j, const double* share) {
    if (asked_[j] != now_) {
      sums_[j] = columns_.dot(j, share);
      when_[j] = way_;
      asked_[j] = now_;
    }
    return sums_[j] * (sums_[j] / precision_[j] + 2.0 * mean_[j]);
  }

  const ColumnStore& columns_;
  std::vector<double> precision_, mean_, sums_, when_, keys_, last_;
  std::vector<index_t> asked_;  // the question for which a column was summed last
  double way_ = 0, longest_ = 0;
  index_t now_ = 0;
};

}  // namespace thresher
