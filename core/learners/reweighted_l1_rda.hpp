#pragma once
#include <algorithm>
#include <cmath>

#include "../rising_penalty.hpp"
#include "../shrink.hpp"
#include "../watch.hpp"
#include "l1_rda.hpp"

namespace thresher {

/// Dual averaging with an l1 penalty that is reweighted in every step: it is stronger for small weights than for large ones.
///
///     w_{t+1} = -(eta0 / sqrt(t)) soft(G_t, alpha Q_t + rho sqrt(t) / eta0),   Q_t = sum_{s <= t} Theta_s,
///     Theta_1 = 1,   Theta_{t+1} = 1 / (|w_{t+1}| + smoothing)
///
/// The gradient of a step is the mean over its mini-batch. A weight without gradients is updated lazily, when a row needs it. A
/// weight of 0 stays 0, so n steps are Q += n / smoothing. For others, the recursion (an Abel equation of the second kind) has no
/// closed form. Steps are taken one by one while they are long, then in strides. A row costs O(non-zeros log(steps)).
/// Jumutc (2016), Algorithm 9.
template <class Batch>
struct ReweightedL1RdaRule {
  using Second = L1RdaRule<Direct>;
  static constexpr bool lazy = true, sound = true;
  /// G and Q of a weight after `step` steps.
  struct Course { double gradient, penalty, step; };
  using Paid = RisingPenalty::Paid;
  double *gradient_sum, *n_steps;
  Paid* paid;
  Batch batch;
  RisingPenalty rising;
  bool free_constant;
  index_t constant;
  double shown = -1;  // if at least 0: the penalty that decides which weights read as 0, in place of alpha

  static void declare(std::vector<Field>& all, bool) {
    all.push_back({"gradient_sum", "weight", 0.0, "sum"});
    all.push_back({"penalty_sum", "weight", 0.0, "sum"});
    all.push_back(Field{"last_step", "weight", 0.0, "derived", "", "penalty_sum", "steps"}.counts("n_steps"));
    Batch::declare(all);
  }
  template <class Source>
  ReweightedL1RdaRule(const Source& s, bool)
      : gradient_sum(s.array("gradient_sum", "weight")), n_steps(s.array("n_steps", "")),
        paid(reinterpret_cast<Paid*>(s.pair("penalty_sum", "last_step"))), batch(s),
        rising(s.number("alpha"), s.number("eta0"), s.number("rho"), s.number("smoothing")),
        free_constant(s.flag("free_constant")), constant(s.n_weights - 1) {}

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) {
    x.each([&](index_t j, double) {  // three numbers per weight exceed the nearest caches
      prefetch_line(paid + j);
      prefetch_line(gradient_sum + j);
    }, nothing);
    const double t = *n_steps, scale = scale_at(t);
    if constexpr (Batch::waits)
      return x.sum([&](index_t j, double xj) { return xj != 0 && keep(j) ? caught_up(j, scale) * xj : 0; },
                   [&](index_t j, double xj) { return caught_up(j, scale) * xj; });
    index_t owing[RisingPenalty::few];
    int n = 0;
    const auto bring_up = [&] {
      rising.bring_up(gradient_sum, paid, owing, n, t);
      n = 0;
    };
    const auto look = [&](index_t j, double xj) {
      owing[n] = j;
      n += (xj != 0) & !is_zero(j, gradient_sum[j]) & (paid[j].step < t);
      if (n == RisingPenalty::few) bring_up();
    };
    x.each(look, [&](index_t j, double xj) {
      if (!free_constant) look(j, xj);
    });
    bring_up();
    const double least = rising.cut(0, t);  // a weight of 0 with overdue steps gets a smaller cut, but stays 0
    const auto shrunk = [&](index_t j, double xj) {
      return soft_threshold(gradient_sum[j], rising.alpha * paid[j].penalty + least) * xj;
    };
    return -scale * x.sum(shrunk, [&](index_t j, double xj) { return free_constant ? gradient_sum[j] * xj : shrunk(j, xj); });
  }
  /// Called before the step is counted. Takes one step of each weight with its gradient; in a mini-batch, the gradient is held
  /// back until the batch is over. For a weight that is 0 and stays 0, this step stays overdue as well.
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep) {
    const double t = *n_steps, scale = scale_at(t);
    if constexpr (Batch::waits) {
      x.each([&](index_t j, double xj) {
        if (xj == 0) return;
        caught_up(j, scale);
        batch.add(j, slope * xj);
      });
      return;
    }
    struct Change {
      index_t j;
      double to;
    };
    Change changes[RisingPenalty::few];
    int n = 0;
    const auto apply = [&] {
      for (int i = 0; i < n; ++i) {
        const index_t j = changes[i].j;
        const Course c = course(j, t);
        paid[j] = {c.penalty + theta(value(j, c, scale), t), t + 1};
        gradient_sum[j] = changes[i].to;
      }
      n = 0;
    };
    const auto change = [&](index_t j, double xj) {
      const double from = gradient_sum[j], to = from + slope * xj;
      const bool stays = is_zero(j, from) & is_zero(j, to);
      gradient_sum[j] = choose(stays, to, from);
      changes[n] = {j, to};
      n += !stays & (xj != 0);
      if (n == RisingPenalty::few) apply();
    };
    x.each(change, [&](index_t j, double xj) {
      if (free_constant) gradient_sum[j] += slope * xj;
      else change(j, xj);
    });
    apply();
  }
  template <class Row>
  double reach(const Row& x) const {
    return rising.eta0 / std::sqrt(*n_steps + 1) * x.square();
  }
  double weight(index_t j) const {
    const Course now = course(j, *n_steps);
    const double scale = scale_at(now.step);
    if (shown < 0 || is_free(j)) return value(j, now, scale);
    return order_of(now) <= shown ? 0 : -scale * soft_threshold(now.gradient, shown * now.penalty);
  }
  bool active(index_t j) { return caught_up(j, 1) != 0; }

  double order(index_t j) const { return order_of(course(j, *n_steps)); }
  void cut_at(double order) { shown = order; }
  double penalty_at(double order) const { return order; }
  void set_penalty(double p) { rising.alpha = p; }

  double batch_size() const { return batch.batch_size; }
  bool row_completes_batch() { return batch.row_completes_batch(); }
  double n_unfinished() const { return batch.n_unfinished(); }
  void step() { batch.next_batch(); }
  bool finish() {
    return batch.finish(constant + 1, [&](index_t j) { return paid[j].step == *n_steps; });
  }
  void settle() {
    Watch watch;
    for (index_t j = 0; j <= constant; ++j) {
      watch.tick();
      keep(j, course(j, *n_steps));
    }
  }
  void rebuild() {
    for (index_t j = 0; j <= constant; ++j) paid[j].step = *n_steps;
  }

 private:
  bool is_free(index_t j) const { return j == constant && free_constant; }
  /// Whether a weight that is not free is 0 with this gradient sum, judged by the cut when it was last updated: cuts only rise.
  bool is_zero(index_t j, double gradient) const { return std::fabs(gradient) <= rising.cut(paid[j].penalty, paid[j].step); }
  double theta(double w, double step) const { return step == 0 ? 1 : 1 / (std::fabs(w) + rising.smoothing); }
  static double order_of(const Course& c) { return c.step == 0 ? 0 : std::fabs(c.gradient) / c.penalty; }
  double scale_at(double step) const { return step == 0 ? 0 : rising.eta0 / std::sqrt(step); }
  double value(index_t j, const Course& c, double scale) const {
    const double least = is_free(j) ? 0 : rising.cut(c.penalty, c.step);
    return std::fabs(c.gradient) <= least ? 0 : -scale * soft_threshold(c.gradient, least);
  }
  /// Weight j after step t, without gradients since it was last updated.
  THRESHER_INLINE Course course(index_t j, double t) const {
    Course c{gradient_sum[j], paid[j].penalty, paid[j].step};
    if (c.step == t) return c;
    const double held = batch[j];  // by a mini-batch that is over
    if (is_free(j)) return {c.gradient + held, 0, t};
    if (held != 0 || c.step == 0) c = {c.gradient + held, c.penalty + theta(value(j, c, scale_at(c.step)), c.step), c.step + 1};
    const double size = std::fabs(c.gradient);
    if (size <= rising.cut(c.penalty, c.step)) return rested(c, t);
    const Paid to = c.step == t ? Paid{c.penalty, t} : rising.after(t, size, {c.penalty, c.step});
    return {c.gradient, to.penalty, t};
  }
  /// The cut only rises: a weight that is 0 stays 0.
  Course rested(const Course& c, double t) const { return {c.gradient, c.penalty + (t - c.step) * rising.most, t}; }
  void keep(index_t j, const Course& c) {
    if (Batch::waits) {
      gradient_sum[j] = c.gradient;
      if (c.step > paid[j].step) batch.clear(j);
    }
    paid[j] = {c.penalty, c.step};
  }
  double caught_up(index_t j, double scale) {
    // A weight of 0 stays 0 until it has a gradient, and is brought up to date then.
    if (!Batch::waits && !is_free(j) && std::fabs(gradient_sum[j]) <= rising.cut(paid[j].penalty, paid[j].step)) return 0;
    const Course c = course(j, *n_steps);
    if (Batch::waits || !is_free(j)) keep(j, c);
    return value(j, c, scale);
  }
};

template <class Batch>
using ReweightedL1Rda = Sparse<ReweightedL1RdaRule<Batch>>;

THRESHER_LEARNER(ReweightedL1Rda, "Dual averaging with a reweighted l1 penalty.", ReweightedL1Rda<AtOnce>)
THRESHER_LEARNER(ReweightedL1RdaBatch, "The same, a step for every batch_size rows.", ReweightedL1Rda<Waiting>)

}  // namespace thresher
