// The loop over rows: predicts each, then learns from it.
#pragma once
#include <cmath>
#include <vector>

#include "learner.hpp"
#include "scan.hpp"
#include "score_bins.hpp"
#include "threads.hpp"
#include "watch.hpp"

namespace thresher {

/// Totals over all passes so far, part of the state. They grow row by row, so they do not depend on how rows are split into
/// batches.
struct Tally {
  double n_rows;     // rows of weight above 0
  double n_updates;  // rows that moved the weights
  double loss_sum;   // weighted losses before the updates
  double weight_sum;
};

struct PassResult {
  index_t n_mistakes = 0;  // wrong sign of the prediction before the update; a score of exactly 0 is not positive
  index_t diverged = -1;   // step at which the pass stopped: an invalid row, or a score, loss or state that is not finite
  index_t paused = -1;     // step to resume at, once the caller has settled the state
};

/// The rows to visit, their targets and weights. A null `order` means storage order, a null `weight` means 1.
/// With `against_rest`, y holds class codes, and the target is +1 for the code `positive` and -1 for all others.
struct Lesson {
  const double* y;
  const double* weight;
  const index_t* order;
  index_t begin, n_steps;
  bool against_rest;
  double positive;
  Unchecked* unchecked = nullptr;  // checks rows when the pass reaches them; null if they are checked

  double target(index_t i) const { return !against_rest ? y[i] : y[i] == positive ? 1.0 : -1.0; }
};

/// One of several outputs that learn from the same rows: the code of its class, and where its sums and scores go. Without
/// `margins` it sits out.
struct Output {
  double positive;
  Tally* tally;
  double* margins;
};

/// Learners whose weights lie side by side, so that one pass over sparse rows serves all. The destructor puts the weights back.
struct AnyLanes {
  AnyLanes() = default;
  AnyLanes(const AnyLanes&) = delete;
  AnyLanes& operator=(const AnyLanes&) = delete;
  virtual ~AnyLanes() = default;
  /// run_pass for each learner. Returns for each the step at which its score or loss was not finite, where it stopped, or -1.
  virtual std::vector<index_t> run(const AnyRows& rows, double bias, const Lesson& lesson,
                                   const std::vector<Output>& outputs) = 0;
};

/// The score of a row with the weights that a prediction uses. Leaves the learner unchanged.
template <class Learner, class Row>
THRESHER_APART double look(const Learner& learner, const Row& x) {
  return x.sum([&](index_t j, double xj) { return learner.weight(j) * xj; });
}

/// Rows whose form for predictions differs from the form that is learned from: that of step t is row at[t], unless at[t] < 0.
/// `scores` receives the score of a prediction at every step. With a null `at`, no row differs.
struct OtherForm {
  const double* rows = nullptr;
  const index_t* at = nullptr;
  double* scores = nullptr;

  bool differs(index_t t) const { return at && at[t] >= 0; }
  DenseRow<double> row(index_t t, index_t n_features, double bias) const { return {rows + at[t] * n_features, n_features, bias}; }
};

/// The score that progressive validation uses: learner.judged(x, margin) if there is one, else the margin.
template <class Learner, class Row>
auto judged(const Learner& learner, const Row& x, double margin, int) -> decltype(learner.judged(x, margin)) {
  return learner.judged(x, margin);
}
template <class Learner, class Row>
double judged(const Learner&, const Row&, double margin, long) {
  return margin;
}

/// The margin of a row and its judged score, in one pass over the row if the learner can compute both at once.
template <class Learner, class Row>
auto both_scores(Learner& learner, const Row& x, int) -> decltype(learner.both_scores(x)) {
  return learner.both_scores(x);
}
template <class Learner, class Row>
Two both_scores(Learner& learner, const Row& x, long) {
  const double margin = learner.margin(x);  // may bring lazy weights up to date
  return {margin, judged(learner, x, margin, 0)};
}

/// Shows a learner the rows of the mini-batch that starts at step t, if its steps depend on all of them.
template <class Learner, class Rows>
auto look_ahead(Learner& learner, const Rows& rows, double bias, const Lesson& lesson, index_t t, int)
    -> decltype(learner.foresees_more(), void()) {
  if (!learner.is_blind()) return;
  for (; t < lesson.n_steps && learner.foresees_more(); ++t) {
    const index_t i = lesson.order ? lesson.order[t] : t;
    const double weight = lesson.weight ? lesson.weight[i] : 1.0;
    if (lesson.unchecked && !lesson.unchecked->passes(rows, i)) return;  // the pass will stop there
    if (weight != 0) learner.foresee(rows.row(i, bias), lesson.target(i), weight);
  }
}
template <class Learner, class Rows>
void look_ahead(Learner&, const Rows&, double, const Lesson&, index_t, long) {}

/// Visits rows[order[0]], rows[order[1]], ...: predicts each, then learns from it.
///
/// The caller supplies the order, so the core holds no random state and a pass can be replayed bit for bit. The pass pauses if
/// the learner wants settling, which costs O(d) and is left to the caller. `margins[t * stride]` receives the judged score of
/// step t before its update, and `counts` collects these scores by class. Both may be null.
template <class Learner, class Rows>
PassResult run_pass(Learner& learner, const Rows& rows, double bias, const Lesson& lesson, Tally& tally, double* margins,
                    index_t stride, const OtherForm& other, ScoreCounts* counts) {
  PassResult result;
  ScoreQueue scores(counts);
  const Ahead<Rows> ahead(rows, lesson.unchecked ? lesson.unchecked->size() + 8 : 0);
  Watch watch;
  for (index_t t = lesson.begin; t < lesson.n_steps; ++t) {
    watch.tick();
    const index_t i = lesson.order ? lesson.order[t] : t;
    ahead.ask(lesson.order, t, lesson.n_steps);
    if (lesson.unchecked && !lesson.unchecked->passes(rows, i)) {
      result.diverged = t;
      break;
    }
    const auto x = rows.row(i, bias);
    const double y = lesson.target(i), weight = lesson.weight ? lesson.weight[i] : 1.0;
    if (weight != 0) look_ahead(learner, rows, bias, lesson, t, 0);
    Two scored;
    if (weight == 0) scored = Two(look(learner, x));
    else scored = both_scores(learner, x, 0);
    const double margin = scored.first(), shown = scored.second();
    if (margins) margins[t * stride] = shown;
    if (other.at) other.scores[t] = other.differs(t) ? look(learner, other.row(t, rows.n_features, bias)) : shown;
    const double paid = weight == 0 ? 0 : weight * learner.loss(margin, y);
    if (!std::isfinite(margin) || !std::isfinite(paid)) {
      result.diverged = t;
      break;
    }
    if (weight == 0) continue;  // a row of weight 0 is absent and counts no step
    result.n_mistakes += (shown > 0) != (y > 0);
    if (counts) scores.push(shown, y, weight);
    tally.n_rows += 1;
    tally.loss_sum += paid;
    tally.weight_sum += weight;
    tally.n_updates += learner.update(x, y, margin, weight);
    if (!learner.sound() || (t + 1 == lesson.n_steps && !std::isfinite(look(learner, x)))) {
      result.diverged = t;
      break;
    }
    if (learner.wants_settling()) {
      result.paused = t + 1;
      break;
    }
  }
  scores.close();
  return result;
}

/// The scores of all rows with the weights that a prediction uses.
template <class Learner, class Rows>
void run_scores(const Learner& learner, const Rows& rows, double bias, double* out, index_t stride,
                Unchecked* unchecked = nullptr) {
  const Ahead<Rows> ahead(rows, unchecked ? unchecked->size() + 8 : 0);
  in_checked_parts(rows, rows.n_values(), unchecked, [&](index_t begin, index_t end) {
    Watch watch;
    for (index_t i = begin; i < end; ++i) {
      watch.tick();
      ahead.ask(nullptr, i, rows.n_rows);
      out[i * stride] = look(learner, rows.row(i, bias));
    }
  });
}

/// The variances of these scores, for learners whose weights have variances.
template <class Learner, class Rows>
void run_spreads(const Learner& learner, const Rows& rows, double bias, double* out, index_t stride) {
  const Ahead<Rows> ahead(rows);
  in_parts(rows.n_rows, rows.n_values(), [&](index_t begin, index_t end) {
    Watch watch;
    for (index_t i = begin; i < end; ++i) {
      watch.tick();
      ahead.ask(nullptr, i, end);
      out[i * stride] = learner.spread(rows.row(i, bias), AllFeatures());
    }
  });
}

}  // namespace thresher
