// The loop for coupled outputs: tasks or classes that share features. The counterpart of pass.hpp for learners that penalise the
// weights of a feature in all outputs together.
//
//   index_t width() const                             scores of one row: 1 for a row of one task, all classes otherwise
//   void   open(const Item&)                          before a row is scored, which may start a new round
//   void   score(const Row&, const Item&, out)        the scores that it learns from
//   void   look(const Row&, const Item&, out) const   the scores that a prediction uses; changes nothing
//   double loss(out, const Item&) const
//   bool   wrong(out, const Item&) const
//   bool   update(const Row&, const Item&, out)       one step; true when weights moved
//   void   judged(const Row&, out, to) const          if they differ: the scores by which it is evaluated, from those that it learns from
//   void   weights(j, out) const                      of feature j for all outputs, as a prediction uses them
//   bool   sound() const, wants_settling() const      as in learner.hpp
#pragma once
#include "pass.hpp"

namespace thresher {

/// What belongs to a row apart from its features. `code` is its task or its class.
struct Item {
  index_t code;
  double y, weight, round;
};

/// `code`, `weight`, `order` and `round` may be null: code 0, weight 1, row order, and a round for each row.
struct MatrixLesson {
  const double* y;
  const index_t* code;
  const double *weight, *round;
  const index_t* order;
  index_t begin, n_steps;

  static constexpr double alone = -2;  // the round of a row that forms a round by itself
  Item item(index_t i) const { return {code ? code[i] : 0, y[i], weight ? weight[i] : 1.0, round ? round[i] : alone}; }
};

inline bool all_finite(const double* x, index_t n) {
  double sum = 0;
  for (index_t k = 0; k < n; ++k) sum += x[k] - x[k];  // 0, or NaN
  return sum == 0;
}

/// The scores that count for the evaluation of a row before it is learned from: those of the step, unless the learner has others.
template <class Learner, class Row>
auto judge(const Learner& learner, const Row& x, const double* out, double* to, int)
    -> decltype(learner.judged(x, out, to), static_cast<const double*>(to)) {
  learner.judged(x, out, to);
  return to;
}
template <class Learner, class Row>
const double* judge(const Learner&, const Row&, const double* out, double*, long) {
  return out;
}

/// Visits rows[order[0]], rows[order[1]], ... ; predicts each, then learns from it. `out` has room for the scores of two rows.
/// With `margins`, the scores of step t before its update are written to margins[t * width]; with `counts`, they are counted
/// there.
template <class Learner, class Rows>
PassResult run_matrix_pass(Learner& learner, const Rows& rows, double bias, const MatrixLesson& lesson, Tally& tally, double* out,
                           double* margins, const OtherForm& other, ScoreCounts* counts) {
  PassResult result;
  const Ahead<Rows> ahead(rows);
  const index_t width = learner.width();
  Watch watch;
  for (index_t t = lesson.begin; t < lesson.n_steps; ++t) {
    watch.tick();
    const index_t i = lesson.order ? lesson.order[t] : t;
    ahead.ask(lesson.order, t, lesson.n_steps);
    const auto x = rows.row(i, bias);
    const Item item = lesson.item(i);
    if (item.weight != 0) {
      learner.open(item);
      learner.score(x, item, out);
    } else {
      learner.look(x, item, out);  // a row of weight 0 advances no clock
    }
    const double* shown = item.weight == 0 ? out : judge(learner, x, out, out + width, 0);
    if (margins) std::copy(shown, shown + width, margins + t * width);
    if (other.differs(t)) learner.look(other.row(t, rows.n_features, bias), item, other.scores + t * width);
    else if (other.at) std::copy(shown, shown + width, other.scores + t * width);
    const double paid = item.weight == 0 ? 0 : item.weight * learner.loss(out, item);
    if (!all_finite(out, width) || !std::isfinite(paid)) {
      result.diverged = t;
      break;
    }
    if (item.weight == 0) continue;
    result.n_mistakes += learner.wrong(shown, item);
    if (counts) counts->add(shown, 1, width == 1 ? item.y : static_cast<double>(item.code), item.weight);
    tally.n_rows += 1;
    tally.loss_sum += paid;
    tally.weight_sum += item.weight;
    tally.n_updates += learner.update(x, item, out);
    if (t + 1 == lesson.n_steps) learner.look(x, item, out);
    if (!learner.sound() || (t + 1 == lesson.n_steps && !all_finite(out, width))) {
      result.diverged = t;
      break;
    }
    if (learner.wants_settling()) {
      result.paused = t + 1;
      break;
    }
  }
  if (counts) counts->close();
  return result;
}

/// Scores of all rows, with the weights that predictions use.
template <class Learner, class Rows>
void run_matrix_scores(const Learner& learner, const Rows& rows, double bias, const index_t* code, double* out) {
  in_parts(rows.n_rows, rows.n_values() * learner.width(), [&](index_t begin, index_t end) {
    const Learner own(learner);  // has scratch memory of its own
    Watch watch;
    for (index_t i = begin; i < end; ++i) {
      watch.tick();
      own.look(rows.row(i, bias), Item{code ? code[i] : 0, 0, 0, 0}, out + i * learner.width());
    }
  });
}

}  // namespace thresher
