// Counts scores in bins by class, before their rows are learned from. Calibration turns the counts into probabilities.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "rows.hpp"

namespace thresher {

/// Bins by sign and magnitude, the negative ones first: twelve per octave in the range of typical margins, which may lie close
/// together, and three per octave outside. Any unit of scores fits. The outermost and innermost bins take all scores beyond them.
struct ScoreBins {
  static constexpr int lowest = -20, fine_from = -4, fine_to = 6, highest = 12;  // octaves
  static constexpr int n_below = 3 * (fine_from - lowest), n_fine = 12 * (fine_to - fine_from), n_above = 3 * (highest - fine_to);
  static constexpr index_t n_each = n_below + n_fine + n_above, n = 2 * n_each;

  static constexpr std::uint64_t fraction_bits = (std::uint64_t{1} << 52) - 1;  // |x| = (1 + fraction / 2^52) 2^octave

  /// Where the twelfths of an octave start, and for each of 32 parts of the octave the twelfth at its start. At most one more
  /// twelfth starts inside a part.
  struct Twelfths {
    std::uint64_t from[13] = {};
    int first[32] = {};
    constexpr Twelfths() {
      constexpr double roots[] = {1.0,
                                  1.0594630943592953,
                                  1.122462048309373,
                                  1.189207115002721,
                                  1.2599210498948732,
                                  1.3348398541700344,
                                  1.4142135623730951,
                                  1.4983070768766815,
                                  1.5874010519681994,
                                  1.681792830507429,
                                  1.7817974362806785,
                                  1.8877486253633868};
      for (int k = 0; k < 12; ++k) from[k] = static_cast<std::uint64_t>((roots[k] - 1) * 4503599627370496.0);
      from[12] = ~std::uint64_t{0};
      for (int part = 0, k = 0; part < 32; ++part) {
        while (from[k + 1] <= static_cast<std::uint64_t>(part) << 47) ++k;
        first[part] = k;
      }
    }
  };
  static int twelfth(std::uint64_t fraction) {
    static constexpr Twelfths twelfths;
    const int k = twelfths.first[fraction >> 47];
    return k + (fraction >= twelfths.from[k + 1]);
  }
  static index_t of(double score) {
    std::uint64_t bits = 0;
    std::memcpy(&bits, &score, sizeof bits);
    const int octave = static_cast<int>(bits >> 52 & 0x7ff) - 1023;  // very small for 0, very large if not finite
    const std::uint64_t fraction = bits & fraction_bits;
    index_t at = 0;
    if (octave >= highest) at = n_each - 1;
    else if (octave >= fine_to) at = n_below + n_fine + 3 * (octave - fine_to) + twelfth(fraction) / 4;
    else if (octave >= fine_from) at = n_below + 12 * (octave - fine_from) + twelfth(fraction);
    else if (octave >= lowest) at = 3 * (octave - lowest) + twelfth(fraction) / 4;
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

/// Counts of one model: for each output the bins of rows of other classes, then those of its own class. The t-th row counts t^2
/// times its weight, so that the scores of late models prevail. Counts of separate rows can be added, on any machine. The clock
/// is read when a pass starts and written when it ends. The same holds for sums over the scores of a single output, for each
/// class, which measure drift: a count, the scores and their squares of the last rows, which count t^16 times their weight; then
/// the scores of all rows, which count as in bins.
class ScoreCounts {
 public:
  static constexpr index_t n_clock = 4, n_drift = 8;

  ScoreCounts() = default;
  /// `clock`: rows, the sum of their counts, the sum of squared counts, and a number that readers store there. Unless scores age,
  /// all rows count by their weight alone, since one model scored them.
  ScoreCounts(double* bins, double* clock, double* drift, index_t n_outputs, bool ages = true)
      : bins_(bins), clock_(clock), drift_(drift), n_outputs_(n_outputs), ages_(ages), n_rows_(clock[0]), sum_(clock[1]),
        squares_(clock[2]) {
    std::copy(drift, drift + n_drift, moments_);
  }

  explicit operator bool() const { return bins_ != nullptr; }

  /// Adds the scores of a row, `stride` apart, before it is learned from. With one output, the class is positive if `code` is
  /// above 0. With more, `code` is the class, and the lead of an output over the best of the others is counted.
  void add(const double* scores, index_t stride, double code, double weight) {
    n_rows_ += 1;
    const double counts = ages_ ? weight * n_rows_ * n_rows_ : weight;
    sum_ += counts;
    squares_ += counts * counts;
    if (n_outputs_ == 1) {
      bins_[(code > 0 ? ScoreBins::n : 0) + ScoreBins::of(scores[0])] += counts;
      add_moments(moments_ + (code > 0 ? n_drift / 2 : 0), scores[0], weight, counts);
      return;
    }
    index_t first = 0;
    for (index_t k = 1; k < n_outputs_; ++k)
      if (scores[k * stride] > scores[first * stride]) first = k;
    double second = -HUGE_VAL;
    for (index_t k = 0; k < n_outputs_; ++k)
      if (k != first) second = std::max(second, scores[k * stride]);
    for (index_t k = 0; k < n_outputs_; ++k) {
      const double lead = scores[k * stride] - (k == first ? second : scores[first * stride]);
      const index_t side = code == static_cast<double>(k) ? ScoreBins::n : 0;
      bins_[2 * ScoreBins::n * k + side + ScoreBins::of(lead)] += counts;
    }
  }
  void close() {
    clock_[0] = n_rows_;
    clock_[1] = sum_;
    clock_[2] = squares_;
    std::copy(moments_, moments_ + n_drift, drift_);
  }

 private:
  static constexpr double farthest = 1e30;  // so that sums do not overflow

  void add_moments(double* of_class, double score, double weight, double counts) const {
    const double s = std::fmin(std::fmax(score, -farthest), farthest);
    of_class[3] += counts * s;
    if (!ages_) return;
    const double t2 = n_rows_ * n_rows_, t4 = t2 * t2, t8 = t4 * t4, late = weight * (t8 * t8);
    of_class[0] += late;
    of_class[1] += late * s;
    of_class[2] += late * (s * s);
  }

  double *bins_ = nullptr, *clock_ = nullptr, *drift_ = nullptr;
  index_t n_outputs_ = 0;
  bool ages_ = true;
  double n_rows_ = 0, sum_ = 0, squares_ = 0, moments_[n_drift] = {};
};

/// A queue for the scores of one output. They are counted in groups, outside the training loop, which has no registers to spare.
class ScoreQueue {
 public:
  explicit ScoreQueue(ScoreCounts* counts) : counts_(counts) {}

  void push(double score, double code, double weight) {
    waiting_[n_] = {score, code, weight};
    if (++n_ == room) flush();
  }
  void close() {
    if (!counts_) return;
    flush();
    counts_->close();
  }

 private:
  static constexpr int room = 64;
  struct Scored { double score, code, weight; };

  [[gnu::noinline]] void flush() {
    ScoreCounts counts = *counts_;
    for (int i = 0; i < n_; ++i) counts.add(&waiting_[i].score, 1, waiting_[i].code, waiting_[i].weight);
    *counts_ = counts;
    n_ = 0;
  }

  ScoreCounts* counts_;
  int n_ = 0;
  Scored waiting_[room];
};

}  // namespace thresher
