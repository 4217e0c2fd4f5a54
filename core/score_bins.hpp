// Scores of rows that were predicted before they were learned from, counted by class in bins: what scores are read as
// probabilities by.
#pragma once
#include <algorithm>
#include <cmath>

#include "rows.hpp"

namespace thresher {

/// Bins by sign and size, three to an octave, those below 0 first. Scores of any unit fit; those farther out than the last bin, or
/// nearer to 0 than the first, count there.
struct ScoreBins {
  static constexpr int lowest = -20, highest = 12;  // octaves
  static constexpr index_t n_each = 3 * (highest - lowest), n = 2 * n_each;

  static index_t of(double score) {
    int exponent = 0;
    const double part = std::frexp(std::fabs(score), &exponent);  // |score| = part 2^exponent with part in [1/2, 1)
    const int third = (part >= 0.6299605249474366) + (part >= 0.7937005259840998);  // 2^(-2/3), 2^(-1/3)
    const index_t at = part > 0 ? std::clamp<index_t>(3 * (index_t{exponent} - 1 - lowest) + third, 0, n_each - 1) : 0;
    return score > 0 ? n_each + at : n_each - 1 - at;
  }
  static double centre(index_t bin) {
    const double at = static_cast<double>(bin < n_each ? n_each - 1 - bin : bin - n_each);
    return (bin < n_each ? -1 : 1) * std::exp2((at + 0.5) / 3 + lowest);
  }
};

/// Counts of one model: for each output the bins of rows of other classes, then those of its own. The t-th row counts t^2 times its
/// weight, so that the scores of late models prevail; the sums of different rows add up, whoever has them.
struct ScoreCounts {
  static constexpr index_t n_clock = 4;
  double* bins;
  double* clock;  // rows, the sum of what they count, the sum of its squares; one more that readers keep there
  index_t n_outputs;
  bool ages = true;  // else all rows count by their weight alone: they were scored by one model

  /// Scores of row t, `stride` apart, before it is learned from. With one output, `code` above 0 is its class; with more, that of
  /// the class, and a score counts as its lead over the best of the others.
  void add(const double* scores, index_t stride, double code, double weight) {
    clock[0] += 1;
    const double counts = ages ? weight * clock[0] * clock[0] : weight;
    clock[1] += counts;
    clock[2] += counts * counts;
    if (n_outputs == 1) {
      bins[(code > 0 ? ScoreBins::n : 0) + ScoreBins::of(scores[0])] += counts;
      return;
    }
    index_t first = 0;
    for (index_t k = 1; k < n_outputs; ++k)
      if (scores[k * stride] > scores[first * stride]) first = k;
    double second = -HUGE_VAL;
    for (index_t k = 0; k < n_outputs; ++k)
      if (k != first) second = std::max(second, scores[k * stride]);
    for (index_t k = 0; k < n_outputs; ++k) {
      const double lead = scores[k * stride] - (k == first ? second : scores[first * stride]);
      const index_t side = code == static_cast<double>(k) ? ScoreBins::n : 0;
      bins[2 * ScoreBins::n * k + side + ScoreBins::of(lead)] += counts;
    }
  }
};

}  // namespace thresher
