// Models that learn from single rows. Arrays and parameters are looked up once, for all rows.
#pragma once
#include <vector>

#include "bind.hpp"
#include "moments.hpp"

namespace thresher {

/// The arrays in which a state counts the scores of `n_outputs` outputs; null if these are not wanted.
struct ScorePlaces {
  double *bins = nullptr, *clock = nullptr, *drift = nullptr;
  index_t n_outputs = 0;

  ScorePlaces() = default;
  ScorePlaces(const PySource& source, bool wanted, index_t n) {
    if (!wanted) return;
    bins = source.array("score_bins", 2 * ScoreBins::n * n);
    clock = source.array("score_clock", ScoreCounts::n_clock);
    drift = source.array("score_drift", ScoreCounts::n_drift);
    n_outputs = n;
  }
  ScoreCounts counts() const { return bins ? ScoreCounts(bins, clock, drift, n_outputs) : ScoreCounts(); }
};

/// Where a state sums the lengths of rows. It measures the first ones, and later only counts one row in `every`.
struct LengthPlaces {
  double *sum = nullptr, *count = nullptr, *n_measured = nullptr;
  double first = 0, every = 1;
};

/// Models of one output that learn from the same rows, one of which gives the scores. Several models are candidates in a race,
/// which is reviewed elsewhere after `until` rows. Learners persist from row to row, as in a pass. They are constructed again if
/// their states have learned elsewhere in between.
class RowModels {
 public:
  static constexpr int learned = 0, left = 1, overflowed = 2;  // results of learn

  RowModels(Maker<AnySingle> make, const nb::list& states, const nb::list& params, index_t n_weights, double bias, index_t reads,
            std::optional<double> until, bool counts_scores, std::optional<std::tuple<double, double>> measured);
  RowModels(RowModels&&) = default;
  RowModels(const RowModels&) = delete;

  /// Learns from the last row read. Does nothing and returns `left` if the race is to be reviewed at this row, or if its weight
  /// is 0 during a race. Otherwise all models learn in this one call, so no other code can run in between.
  int learn(const RowReader& x, double y, double weight, bool is_new);
  /// The score of the last row read.
  double score(const RowReader& x);
  /// The models whose weights overflowed at the last row.
  const std::vector<index_t>& failed() const { return failed_; }
  /// Whether weights have overflowed at any row.
  bool has_ended() const { return has_ended_; }

 private:
  struct Model {
    std::unique_ptr<PySource> source;
    nb::list held;  // keeps alive what the learner points to
    std::unique_ptr<AnySingle> learner;
    Tally* tally;
    double *n_mistakes, *missed, *n_wrong;
    ScorePlaces scores;
    double n_rows;  // rows in the tally when the learner was last used
  };

  Model& current(index_t k, const RowReader& x);
  void measure(const RowReader& x) const;
  bool step(Model& model, const RowReader& x, double y, double weight, bool is_new) const;

  Maker<AnySingle> make_;
  std::vector<Model> models_;
  std::vector<index_t> failed_;
  index_t n_weights_, reads_;
  double bias_;
  std::optional<double> until_;
  std::optional<LengthPlaces> lengths_;
  bool has_ended_ = false;
};

}  // namespace thresher
