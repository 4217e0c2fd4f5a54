// Learns several outputs of a confidence-weighted learner in one pass over sparse rows, four at a time in SIMD registers.
#pragma once
#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <deque>
#include <memory>
#include <vector>

#include "../lanes.hpp"
#include "../pass.hpp"
#include "confidence.hpp"

namespace thresher {

/// Replaces negative entries by 0.
THRESHER_INLINE void at_least_zero(Lane& lane) {
#if THRESHER_GNU
  lane = lane > Lane{} ? lane : Lane{};
#else
  for (int i = 0; i < kLane; ++i) lane[i] = std::max(0.0, lane[i]);
#endif
}
/// Keeps the entries where `changed` holds, and takes the others from `before`.
THRESHER_INLINE void keep_where(Lane& lane, const LaneMask& changed, const Lane& before) {
#if THRESHER_GNU
  lane = changed ? lane : before;
#else
  for (int i = 0; i < kLane; ++i)
    if (!changed[i]) lane[i] = before[i];
#endif
}

/// A copy of the means and variances of up to four learners, where those of one feature fill a cache line. The destructor writes
/// them back.
class BeliefLanes {
 public:
  BeliefLanes(DiagonalLearner* const* learners, int n_learners, index_t n_weights)
      : n_learners_(n_learners), n_weights_(n_weights), room_(static_cast<std::size_t>(n_weights) * 8 + 8) {
    std::copy_n(learners, n_learners, learners_);
    const std::uintptr_t beyond = reinterpret_cast<std::uintptr_t>(room_.data()) / sizeof(double) % 8;  // of a cache line
    lines_ = room_.data() + (8 - beyond) % 8;
    for (index_t j = 0; j < n_weights; ++j)
      for (int i = 0; i < n_learners; ++i) {
        const auto& belief = learners_[i]->belief[j];
        line(j)[i] = belief.mean;
        line(j)[kLane + i] = belief.variance;
      }
  }
  BeliefLanes(const BeliefLanes&) = delete;
  BeliefLanes& operator=(const BeliefLanes&) = delete;
  ~BeliefLanes() {
    for (index_t j = 0; j < n_weights_; ++j)
      for (int i = 0; i < n_learners_; ++i) learners_[i]->belief[j] = {line(j)[i], line(j)[kLane + i]};
  }
  double* line(index_t j) const { return lines_ + 8 * j; }
  int size() const { return n_learners_; }
  const DiagonalLearner& learner(int i) const { return *learners_[i]; }

 private:
  DiagonalLearner* learners_[kLane];
  int n_learners_;
  index_t n_weights_;
  std::vector<double> room_;
  double* lines_;
};

/// The scores of a row and their variances, added in the order of SparseRow::sum.
template <class Row>
THRESHER_INLINE void sum_lanes(const Row& x, const BeliefLanes& beliefs, Lane& score, Lane& spread) {
  Lane scores[4] = {}, spreads[4] = {};
  const auto add = [&](const double* line, double value, Lane& sum, Lane& square) {
    Lane mean, variance;
    load(mean, line);
    load(variance, line + kLane);
    sum += value * mean;
    square += (value * value) * variance;
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

/// The steps of up to four outputs. Only those with `moves` are taken.
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

/// run_pass for up to four outputs at once, of which `diverged` receives what AnyLanes::run returns.
template <class Rows>
THRESHER_AVX2 void pass_lanes(const BeliefLanes& beliefs, const Output* outputs, const Rows& rows, double bias,
                              const Lesson& lesson, index_t* diverged) {
  const bool precision = beliefs.learner(0).precision;
  const Ahead<Rows> ahead(rows, lesson.unchecked ? lesson.unchecked->size() + 8 : 0);
  Watch watch;
  for (index_t t = lesson.begin; t < lesson.n_steps; ++t) {
    watch.tick();
    const index_t i = lesson.order ? lesson.order[t] : t;
    ahead.ask(lesson.order, t, lesson.n_steps);
    if (lesson.unchecked && !lesson.unchecked->passes(rows, i)) {
      for (int c = 0; c < beliefs.size(); ++c)
        if (diverged[c] < 0) diverged[c] = t;
      return;
    }
    const auto x = rows.row(i, bias);
    const double weight = lesson.weight ? lesson.weight[i] : 1.0;
    Lane score, spread;
    sum_lanes(x, beliefs, score, spread);
    StepLanes step;
    bool moves = false;
    for (int c = 0; c < beliefs.size(); ++c) {
      const Output& of = outputs[c];
      if (!of.margins || diverged[c] >= 0) continue;
      const DiagonalLearner& learner = beliefs.learner(c);
      const double y = lesson.y[i] == of.positive ? 1 : -1, margin = score[c];
      of.margins[t] = margin;
      const double paid = weight == 0 ? 0 : weight * learner.loss(margin, y);
      if (!std::isfinite(margin) || !std::isfinite(paid)) diverged[c] = t;
      if (weight == 0 || diverged[c] >= 0) continue;
      of.tally->n_rows += 1;
      of.tally->loss_sum += paid;
      of.tally->weight_sum += weight;
      const Step asked = learner.step(y * margin, weight, [&] { return spread[c]; });
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
    for (int c = 0; c < beliefs.size(); ++c)
      if (outputs[c].margins && diverged[c] < 0 && !std::isfinite(score[c])) diverged[c] = t;
  }
}

class ConfidenceLanes final : public AnyLanes {
 public:
  ConfidenceLanes(const std::vector<DiagonalLearner*>& learners, index_t n_weights) {
    const auto n = static_cast<index_t>(learners.size());
    for (index_t k = 0; k < n; k += kLane)
      fours_.emplace_back(&learners[k], static_cast<int>(std::min<index_t>(kLane, n - k)), n_weights);
  }
  std::vector<index_t> run(const AnyRows& rows, double bias, const Lesson& lesson, const std::vector<Output>& outputs) override {
    std::vector<index_t> diverged(outputs.size(), -1);
    for (std::size_t f = 0; f < fours_.size(); ++f) {
      const Output* const first = &outputs[kLane * f];
      if (std::none_of(first, first + fours_[f].size(), [](const Output& of) { return of.margins; })) continue;
      std::visit([&](const auto& x) {
        if constexpr (std::decay_t<decltype(x)>::gathers) pass_lanes(fours_[f], first, x, bias, lesson, &diverged[kLane * f]);
      }, rows);
    }
    return diverged;
  }

 private:
  std::deque<BeliefLanes> fours_;
};

/// Null where the machine has no wide registers, the learners follow different forms of the update, or one keeps a mean of iterates.
inline std::unique_ptr<AnyLanes> lanes_of(const std::vector<DiagonalLearner*>& learners, index_t n_weights) {
  const auto fits = [&](const DiagonalLearner* each) { return !each->late.lag && each->precision == learners[0]->precision; };
  if (!is_wide() || !std::all_of(learners.begin(), learners.end(), fits)) return nullptr;
  return std::make_unique<ConfidenceLanes>(learners, n_weights);
}

}  // namespace thresher
