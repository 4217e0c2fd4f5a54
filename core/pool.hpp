// For a learner that uses few of very many features: which features to add to its pool, and which to remove.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <vector>

#include "rows.hpp"

namespace thresher {

/// The n features outside a pool with the largest score (s a_j)^2 / (c + s b_j) above 0, the best first, ties to the smaller
/// index. Visits every feature. If c is 1, the score is at most (s a_j)^2, so b_j is read only for promising features.
struct BestOutside {
  struct Column {
    const double* values;
    index_t stride;
  };
  struct Candidate {
    double score;
    index_t feature;
  };
  Column a, b;
  double s, c;
  std::size_t n;
  std::vector<Candidate> best{};  // a heap, the worst on top
  bool finite = true;

  /// `pool` must be sorted.
  void scan(index_t n_features, const index_t* pool, index_t n_pool) {
    if (n == 0) return;
    best.reserve(n);
    index_t begin = 0;
    for (index_t k = 0; k < n_pool; ++k) {
      look(begin, pool[k]);
      begin = pool[k] + 1;
    }
    look(begin, n_features);
    std::sort(best.begin(), best.end(), ahead);
  }

 private:
  static bool ahead(const Candidate& x, const Candidate& y) {
    return x.score != y.score ? x.score > y.score : x.feature < y.feature;
  }
  void look(index_t begin, index_t end) {
    double least = best.size() == n ? best.front().score : 0;
    for (index_t j = begin; j < end; ++j) {
      const double pull = s * a.values[j * a.stride], most = pull * pull;
      if (most <= (c == 1 ? least : 0)) continue;
      const double score = most / (c + s * b.values[j * b.stride]);
      finite = finite && std::isfinite(score) && std::isfinite(most);
      if (!(score > least)) continue;
      if (best.size() == n) {
        std::pop_heap(best.begin(), best.end(), ahead);
        best.pop_back();
      }
      best.push_back({score, j});
      std::push_heap(best.begin(), best.end(), ahead);
      if (best.size() == n) least = best.front().score;
    }
  }
};

/// Conditional pruning: fixes the weight a with the least mean^2 / variance at 0, and conditions the Gaussian of the others on
/// it. Repeats this until `keep` weights remain besides the first n_first, which stay:
///
///     mean -= cov_a mean_a / cov_aa,     cov -= cov_a cov_a' / cov_aa
///
/// Of equal weights, the last is removed. Means and covariances of removed weights are 0.
inline void condition(double* mean, double* covariance, index_t n, index_t n_first, index_t keep) {
  std::vector<char> gone(static_cast<std::size_t>(n), 0);
  for (index_t left = n - n_first; left > keep; --left) {
    index_t a = -1;
    double least = 0;
    for (index_t k = n_first; k < n; ++k) {
      if (gone[k]) continue;
      const double score = mean[k] * mean[k] / covariance[k * n + k];
      if (a < 0 || !(score > least)) a = k, least = score;
    }
    gone[a] = 1;
    double* row_a = covariance + a * n;
    const double variance = row_a[a], mean_a = mean[a];
    for (index_t k = 0; k < n; ++k) {
      if (gone[k]) continue;
      double* row = covariance + k * n;
      const double share = row[a] / variance;
      mean[k] -= share * mean_a;
      for (index_t i = 0; i < n; ++i) row[i] -= share * row_a[i];
      row[a] = 0;
    }
    mean[a] = 0;
    std::fill_n(row_a, n, 0.0);
  }
}

}  // namespace thresher
