// The one loop. Everything that walks over rows and updates a linear model goes through here.
#pragma once
#include <cmath>

#include "learner.hpp"
#include "scan.hpp"
#include "score_bins.hpp"
#include "threads.hpp"
#include "watch.hpp"

namespace thresher {

/// What all passes so far saw, kept in the state: sums go on row by row, so chunking leaves no trace in them.
struct Tally {
  double n_rows;     // rows of weight above 0
  double n_updates;  // rows that moved the weights
  double loss_sum;   // weighted loss before the update
  double weight_sum;
};

struct PassResult {
  index_t n_mistakes = 0;  // wrong sign of the prediction before the update; a score of exactly 0 is not positive
  index_t diverged = -1;   // step whose row did not pass its check or had no finite score; the pass stops before its update
  index_t paused = -1;     // where to go on, once the state was settled as the learner wishes
};

/// The rows to visit, their targets and weights. `order` and `weight` may be null: row order, weight 1.
/// One against the rest: y holds class codes and the target is +1 for the code `positive`, -1 for any other.
struct Lesson {
  const double* y;
  const double* weight;
  const index_t* order;
  index_t begin, n_steps;
  bool against_rest;
  double positive;
  Unchecked* unchecked = nullptr;  // rows that are still to be checked

  double target(index_t i) const { return !against_rest ? y[i] : y[i] == positive ? 1.0 : -1.0; }
};

/// One of several outputs that learn from the same rows: its learner, the code of its class, and where its sums and scores go.
template <class Learner>
struct OutputOf {
  Learner* learner;
  double positive;
  Tally* tally;
  double* margins;
};

/// The score of a row with the weights a prediction uses, of a learner that is only looked at.
template <class Learner, class Row>
THRESHER_APART double look(const Learner& learner, const Row& x) {
  return x.sum([&](index_t j, double xj) { return learner.weight(j) * xj; });
}

/// Rows that are read in another form than they are learned from: that of step t is row at[t], unless at[t] is below 0. `scores`
/// receives what a prediction would say at every step; nothing is asked for where `at` is null.
struct OtherForm {
  const double* rows = nullptr;
  const index_t* at = nullptr;
  double* scores = nullptr;

  bool differs(index_t t) const { return at && at[t] >= 0; }
  DenseRow<double> row(index_t t, index_t n_features, double bias) const { return {rows + at[t] * n_features, n_features, bias}; }
};

/// The score by which a learner is judged, of a row that it has not learned from: that of the step, or its own.
template <class Learner, class Row>
auto judged(const Learner& learner, const Row& x, double margin, int) -> decltype(learner.judged(x, margin)) {
  return learner.judged(x, margin);
}
template <class Learner, class Row>
double judged(const Learner&, const Row&, double margin, long) {
  return margin;
}

/// The scores of a row by which a learner learns and by which it is judged, in one look where it has both at once.
template <class Learner, class Row>
auto both_scores(Learner& learner, const Row& x, int) -> decltype(learner.both_scores(x)) {
  return learner.both_scores(x);
}
template <class Learner, class Row>
Two both_scores(Learner& learner, const Row& x, long) {
  const double margin = learner.margin(x);  // which may bring lazy weights up to date
  return {margin, judged(learner, x, margin, 0)};
}

/// Show a learner the rows of a mini-batch that begins at step t, if its steps depend on all of them.
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

/// Visit rows[order[0]], rows[order[1]], ... ; predict each, then learn from it.
///
/// The order comes from outside: shuffles, samples and mini-batches are data, so the core holds no random state and a
/// pass can be replayed bit for bit. A learner may ask for a pause: settling costs O(d) and is the caller's to do. With `margins`, the score of step t before its update is written to margins[t * stride];
/// with `counts`, it is counted there.
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
    if (weight == 0) continue;  // an absent row advances no clock
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

/// Scores of all rows with the weights a prediction uses.
template <class Learner, class Rows>
void run_scores(const Learner& learner, const Rows& rows, double bias, double* out, index_t stride) {
  const Ahead<Rows> ahead(rows);
  in_parts(rows.n_rows, rows.n_values(), [&](index_t begin, index_t end) {
    Watch watch;
    for (index_t i = begin; i < end; ++i) {
      watch.tick();
      ahead.ask(nullptr, i, end);
      out[i * stride] = look(learner, rows.row(i, bias));
    }
  });
}

/// The variance of each of these scores, of a learner that keeps one for its weights.
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
