// Several outputs of a confidence-weighted learner in one pass over sparse rows: four at a time, side by side in the registers.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <vector>

#include "../lanes.hpp"
#include "../pass.hpp"
#include "confidence.hpp"

namespace thresher {

/// The larger of each entry and 0, and each entry of `a` or `b`.
THRESHER_INLINE void at_least_zero(Lane& lane) {
#if THRESHER_GNU
  lane = lane > Lane{} ? lane : Lane{};
#else
  for (int i = 0; i < kLane; ++i) lane[i] = std::max(0.0, lane[i]);
#endif
}
THRESHER_INLINE void keep_where(Lane& lane, const LaneMask& changed, const Lane& before) {
#if THRESHER_GNU
  lane = changed ? lane : before;
#else
  for (int i = 0; i < kLane; ++i)
    if (!changed[i]) lane[i] = before[i];
#endif
}

using OneInLanes = OutputOf<DiagonalLearner>;

/// Means and variances of four outputs: those of one feature fill a cache line.
class BeliefLanes {
 public:
  BeliefLanes(const OneInLanes* outputs, int n_outputs, index_t n_weights)
      : outputs_(outputs), n_outputs_(n_outputs), n_weights_(n_weights), room_(static_cast<std::size_t>(n_weights) * 8 + 8) {
    const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(room_.data()) / sizeof(double) % 8;  // of a cache line
    lines_ = room_.data() + (8 - beyond) % 8;
    for (index_t j = 0; j < n_weights; ++j)
      for (int i = 0; i < n_outputs; ++i) {
        const auto& belief = outputs[i].learner->belief[j];
        line(j)[i] = belief.mean;
        line(j)[kLane + i] = belief.variance;
      }
  }
  BeliefLanes(const BeliefLanes&) = delete;
  BeliefLanes& operator=(const BeliefLanes&) = delete;
  ~BeliefLanes() {  // also after an interrupt
    for (index_t j = 0; j < n_weights_; ++j)
      for (int i = 0; i < n_outputs_; ++i) outputs_[i].learner->belief[j] = {line(j)[i], line(j)[kLane + i]};
  }
  double* line(index_t j) const { return lines_ + 8 * j; }

 private:
  const OneInLanes* outputs_;
  int n_outputs_;
  index_t n_weights_;
  std::vector<double> room_;
  double* lines_;
};

/// The scores of a row and their variances, added up as SparseRow::sum does it.
template <class Row>
THRESHER_INLINE void sum_lanes(const Row& x, const BeliefLanes& beliefs, Lane& score, Lane& spread) {
  Lane scores[4] = {}, spreads[4] = {};
  const auto add = [&](const double* line, double value, Lane& sum, Lane& square) {
    Lane mean, variance;
    load(mean, line);
    load(variance, line + kLane);
    sum += value * mean;
    square += value * (value * variance);
  };
  index_t k = 0;
  for (; k + 4 <= x.nnz; k += 4)
    for (int i = 0; i < 4; ++i) add(beliefs.line(x.columns[k + i]), static_cast<double>(x.values[k + i]), scores[i], spreads[i]);
  for (; k < x.nnz; ++k) add(beliefs.line(x.columns[k]), static_cast<double>(x.values[k]), scores[0], spreads[0]);
  scores[0] += scores[1];
  scores[2] += scores[3];
  scores[0] += scores[2];
  spreads[0] += spreads[1];
  spreads[2] += spreads[3];
  spreads[0] += spreads[2];
  if (x.bias != 0) add(beliefs.line(x.n_features), x.bias, scores[0], spreads[0]);
  score = scores[0];
  spread = spreads[0];
}

/// The steps of four outputs.
struct StepLanes {
  Lane pull = {}, inertia = {}, beta = {}, spread = {};
  LaneMask moves = {};
};

template <class Row>
THRESHER_INLINE void move_lanes(const Row& x, const BeliefLanes& beliefs, const StepLanes& step, bool precision) {
  x.each([&](index_t j, double xj) {
    double* line = beliefs.line(j);
    Lane mean, variance;
    load(mean, line);
    load(variance, line + kLane);
    const Lane sx = xj * variance;
    Lane to = mean + step.pull * sx, narrower;
    if (precision) {
      narrower = variance * (step.inertia / (step.inertia + xj * sx));
    } else {
      Lane rest = step.spread - xj * sx;
      at_least_zero(rest);
      narrower = variance * (step.beta * (step.inertia + rest));
    }
    keep_where(to, step.moves, mean);
    keep_where(narrower, step.moves, variance);
    std::memcpy(line, &to, sizeof to);
    std::memcpy(line + kLane, &narrower, sizeof narrower);
  });
}

/// run_pass for up to four outputs at once. `diverged` receives the step at which the score of an output was not finite, where that
/// output stops, or -1.
template <class Rows>
THRESHER_AVX2 void pass_lanes(const OneInLanes* outputs, int n_outputs, const Rows& rows, double bias, const Lesson& lesson,
                              index_t* diverged) {
  const BeliefLanes beliefs(outputs, n_outputs, rows.n_features + 1);
  const bool precision = outputs[0].learner->precision;
  const Ahead<Rows> ahead(rows);
  Watch watch;
  std::fill(diverged, diverged + n_outputs, -1);
  for (index_t t = lesson.begin; t < lesson.n_steps; ++t) {
    watch.tick();
    const index_t i = lesson.order ? lesson.order[t] : t;
    ahead.ask(lesson.order, t, lesson.n_steps);
    const auto x = rows.row(i, bias);
    const double weight = lesson.weight ? lesson.weight[i] : 1.0;
    Lane score, spread;
    sum_lanes(x, beliefs, score, spread);
    StepLanes step;
    bool moves = false;
    for (int c = 0; c < n_outputs; ++c) {
      const OneInLanes& of = outputs[c];
      if (diverged[c] >= 0) continue;
      const double y = lesson.y[i] == of.positive ? 1 : -1, margin = score[c];
      of.margins[t] = margin;
      const double paid = weight == 0 ? 0 : weight * of.learner->loss(margin, y);
      if (!std::isfinite(margin) || !std::isfinite(paid)) diverged[c] = t;
      if (weight == 0 || diverged[c] >= 0) continue;
      of.tally->n_rows += 1;
      of.tally->loss_sum += paid;
      of.tally->weight_sum += weight;
      const Step asked = of.learner->step(y * margin, weight, [&] { return spread[c]; });
      if (!asked.finite()) continue;
      const BeliefStep own(asked, y, spread[c]);
      step.pull[c] = own.pull;
      step.inertia[c] = own.inertia;
      step.beta[c] = own.beta;
      step.spread[c] = own.spread;
      step.moves[c] = -1;
      of.tally->n_updates += 1;
      moves = true;
    }
    if (!moves) continue;
    if (precision) move_lanes(x, beliefs, step, true);
    else move_lanes(x, beliefs, step, false);
    if (t + 1 < lesson.n_steps) continue;
    sum_lanes(x, beliefs, score, spread);
    for (int c = 0; c < n_outputs; ++c)
      if (diverged[c] < 0 && !std::isfinite(score[c])) diverged[c] = t;
  }
}

/// Whether the machine has registers for lanes, moving the weights there and back costs less than it saves, and the learners keep
/// nothing else and follow the same form.
template <class Value>
bool pays_in_lanes(const DenseRows<Value>&, const Lesson&, const std::vector<OneInLanes>&) {
  return false;
}
template <class Value, class Column>
bool pays_in_lanes(const CsrRows<Value, Column>& rows, const Lesson& lesson, const std::vector<OneInLanes>& outputs) {
  const double share = static_cast<double>(lesson.n_steps - lesson.begin) / static_cast<double>(rows.n_rows);
  const auto fits = [&](const OneInLanes& of) {
    return !of.learner->late.lag && of.learner->precision == outputs[0].learner->precision;
  };
  return is_wide() && outputs.size() > 2 &&
         share * static_cast<double>(rows.n_values()) > 2.0 * static_cast<double>(rows.n_features) &&
         std::all_of(outputs.begin(), outputs.end(), fits);
}

/// Four outputs at a time. Returns for each the step at which its score was not finite, or -1.
template <class Value, class Column>
std::vector<index_t> learn_in_lanes(const CsrRows<Value, Column>& rows, double bias, const Lesson& lesson,
                                    const std::vector<OneInLanes>& outputs) {
  const auto n = static_cast<index_t>(outputs.size());
  std::vector<index_t> diverged(outputs.size());
  for (index_t k = 0; k < n; k += kLane)
    pass_lanes(&outputs[k], static_cast<int>(std::min<index_t>(kLane, n - k)), rows, bias, lesson, &diverged[k]);
  return diverged;
}
template <class Value>
std::vector<index_t> learn_in_lanes(const DenseRows<Value>&, double, const Lesson&, const std::vector<OneInLanes>&) {
  return {};
}

}  // namespace thresher
