// Scores of rows that were predicted before they were learned from, counted by class in bins: what scores are read as
// probabilities by.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstring>

#include "rows.hpp"

namespace thresher {

/// Bins by sign and size, those below 0 first: twelve to an octave where scores of margins lie, which may all be about the same, and
/// three beyond. Scores of any unit fit; those farther out than the last bin, or nearer to 0 than the first, count there.
struct ScoreBins {
  static constexpr int lowest = -20, fine_from = -4, fine_to = 6, highest = 12;  // octaves
  static constexpr int n_below = 3 * (fine_from - lowest), n_fine = 12 * (fine_to - fine_from), n_above = 3 * (highest - fine_to);
  static constexpr index_t n_each = n_below + n_fine + n_above, n = 2 * n_each;

  static constexpr std::uint64_t fraction_bits = (std::uint64_t{1} << 52) - 1;  // |x| = (1 + fraction / 2^52) 2^octave

  /// Where the twelfths of an octave begin, and for each of 32 parts of the octave the twelfth of its begin: a part holds at most one
  /// more begin.
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
    const int octave = static_cast<int>(bits >> 52 & 0x7ff) - 1023;  // far below all for 0, above all if not finite
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

/// Counts of one model: for each output the bins of rows of other classes, then those of its own. The t-th row counts t^2 times its
/// weight, so that the scores of late models prevail; the counts of separate rows add up, on any machine. The clock is read when a
/// pass begins and written when it ends. So are sums over the scores of a single output, for each class, which show how they have
/// drifted: of the last rows, which count t^16 times their weight, that number, their scores and the squares of these; then the
/// scores of all rows, which count as in bins.
class ScoreCounts {
 public:
  static constexpr index_t n_clock = 4, n_drift = 8;

  ScoreCounts() = default;
  /// `clock`: rows, the sum of what they count, the sum of its squares, and one number more that readers keep there. Unless scores
  /// age, all rows count by their weight alone: they were scored by one model.
  ScoreCounts(double* bins, double* clock, double* drift, index_t n_outputs, bool ages = true)
      : bins_(bins), clock_(clock), drift_(drift), n_outputs_(n_outputs), ages_(ages), n_rows_(clock[0]), sum_(clock[1]),
        squares_(clock[2]) {
    std::copy(drift, drift + n_drift, moments_);
  }

  explicit operator bool() const { return bins_ != nullptr; }

  /// Scores of a row, `stride` apart, before it is learned from. With one output, `code` above 0 is its class; with more, that of
  /// the class, and a score counts as its lead over the best of the others.
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
  static constexpr double farthest = 1e30;  // so that no sum overflows

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

/// Scores of one output on their way to the counts: some at a time, apart from the loop that learns, which has no registers to spare.
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
