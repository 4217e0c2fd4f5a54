// Scores of rows that were predicted before they were learned from, counted by class in bins: what scores are read as
// probabilities by.
#pragma once
#include <algorithm>
#include <cmath>

#include "rows.hpp"

namespace thresher {

/// Bins by sign and size, those below 0 first: twelve to an octave where scores of margins lie, which may all be about the same, and
/// three beyond. Scores of any unit fit; those farther out than the last bin, or nearer to 0 than the first, count there.
struct ScoreBins {
  static constexpr int lowest = -20, fine_from = -4, fine_to = 6, highest = 12;  // octaves
  static constexpr int n_below = 3 * (fine_from - lowest), n_fine = 12 * (fine_to - fine_from), n_above = 3 * (highest - fine_to);
  static constexpr index_t n_each = n_below + n_fine + n_above, n = 2 * n_each;

  /// The twelfth of its octave in which a number from 1/2 to 1 lies.
  static int twelfth(double part) {
    constexpr double from[] = {0.5,
                               0.5297315471796477,
                               0.5612310241546865,
                               0.5946035575013605,
                               0.6299605249474366,
                               0.6674199270850172,
                               0.7071067811865476,
                               0.7491535384383408,
                               0.7937005259840998,
                               0.8408964152537145,
                               0.8908987181403393,
                               0.9438743126816935,
                               1.0};
    const double x = 2 * part - 1;
    int k = static_cast<int>(12 * x * (1.3465 - 0.3465 * x));  // about 12 log2(2 part), off by less than one
    if (k < 11 && part >= from[k + 1]) ++k;
    else if (part < from[k]) --k;
    return k;
  }
  static index_t of(double score) {
    int exponent = 0;
    const double part = std::frexp(std::fabs(score), &exponent);  // |score| = part 2^exponent with part in [1/2, 1)
    if (!(part >= 0.5 && part < 1)) exponent = part > 0 ? highest + 1 : lowest;  // no finite number, or 0
    const int octave = exponent - 1;
    index_t at = 0;
    if (octave >= highest) at = n_each - 1;
    else if (octave >= fine_to) at = n_below + n_fine + 3 * (octave - fine_to) + twelfth(part) / 4;
    else if (octave >= fine_from) at = n_below + 12 * (octave - fine_from) + twelfth(part);
    else if (octave >= lowest) at = 3 * (octave - lowest) + twelfth(part) / 4;
    return score > 0 ? n_each + at : n_each - 1 - at;
  }
  static double centre(index_t bin) {
    const auto at = static_cast<int>(bin < n_each ? n_each - 1 - bin : bin - n_each);
    const double octaves = at < n_below          ? lowest + (at + 0.5) / 3
                         : at < n_below + n_fine ? fine_from + (at - n_below + 0.5) / 12
                                                 : fine_to + (at - n_below - n_fine + 0.5) / 3;
    return (bin < n_each ? -1 : 1) * std::exp2(octaves);
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
