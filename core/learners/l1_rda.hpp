#pragma once
#include <cmath>
#include <type_traits>

#include "../joint_of.hpp"
#include "../scan.hpp"
#include "../shrink.hpp"
#include "sparse.hpp"

namespace thresher {

/// Dual averaging with an l1 and an l2 penalty. After t steps, with gradient sum G,
///
///     w = argmin_w  <G / t, w> + alpha |w|_1 + l2_weight |w|^2 / 2 + (1 / (eta0 sqrt(t))) (|w|^2 / 2 + rho |w|_1)
///       = -soft(G, alpha t + rho sqrt(t) / eta0) / (l2_weight t + sqrt(t) / eta0)
///
/// Only G is stored, and weights are computed when a row needs them. A sparse row costs O(non-zeros), and the model is exact
/// after every step. A free constant feature has no penalty: w = -eta0 G / sqrt(t).
/// Xiao, JMLR 11 (2010), Algorithm 1; rho as in Yang (2011), eq. 3.14.
///
/// With averaged sums, predictions replace G and t by their means over all steps s, weighted by s. That of t is (2 t + 1) / 3.
/// The means depend less on the latest rows, and the penalty still makes weights 0. A mean of weights would have few zeros.
template <class Sums>
struct L1RdaRule {
  using Second = L1RdaRule;
  static constexpr bool lazy = false, sound = true, averages = std::is_same_v<Sums, Averaged>;
  Sums gradient_sum;
  double* n_steps;
  double* n_iterates;  // steps in the mean; merging averages it, because shards run in parallel
  double alpha, eta0, rho, l2_weight;
  bool free_constant;
  index_t constant;
  struct Shrinkage { double cut = 0, scale = 0, constant_scale = 0; };
  Shrinkage now, read;  // for the last sums and for the sums that predict: functions of the number of steps
  double mass = 0;      // 1 + 2 + ... + n_iterates
  double share = 0;     // 1 / mass

  static const char* name(bool second) { return second ? "debiased_gradient_sum" : "gradient_sum"; }
  static void declare(std::vector<Field>& all, bool second) {
    Sums::declare(all, name(second), "sum", false);
    if (averages) all.push_back({"n_iterates", "", 0.0, "mean"});
  }
  template <class Source>
  L1RdaRule(const Source& s, bool second)
      : gradient_sum(s, name(second), false), n_steps(s.array("n_steps", "")),
        n_iterates(averages ? s.array("n_iterates", "") : nullptr), alpha(second ? 0 : s.number("alpha")), eta0(s.number("eta0")),
        rho(second ? 0 : s.number("rho")), l2_weight(s.number("l2_weight")), free_constant(s.flag("free_constant")),
        constant(s.constant()) {
    look_up();
  }

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) const {
    double sum;
    if constexpr (std::is_same_v<Keep, AllFeatures> && std::is_same_v<Sums, Direct>)
      sum = x.sum_of(gradient_sum.value, [cut = now.cut](auto v) { return soft_threshold(v, decltype(v)(cut)); });
    else sum = x.sum([&](index_t j, double xj) { return keep(j) ? soft_threshold(gradient_sum[j], now.cut) * xj : 0; }, nothing);
    return -now.scale * sum + x.of_constant([&](index_t j, double bias) { return bias * shrunk(j, gradient_sum[j], now); });
  }
  /// The score by the last sums and that of a prediction, in one pass over a row.
  template <class Row, bool Both = averages, std::enable_if_t<Both, int> = 0>
  Two both_scores(const Row& x) const {
    const Two cuts(now.cut, read.cut), shares(0, share);
    const Two sums = x.sum([&](index_t j, double xj) {
      const Two last(gradient_sum[j], gradient_sum[j]);
      return soft_threshold(last - shares * gradient_sum.both(j), cuts) * Two(xj, xj);  // of the last sum and sum_to_read(j)
    }, [](index_t, double) { return Two(); });
    const Two rest = {x.of_constant([&](index_t j, double bias) { return bias * shrunk(j, gradient_sum[j], now); }),
                      x.of_constant([&](index_t j, double bias) { return bias * weight(j); })};
    return {rest.first() - now.scale * sums.first(), rest.second() - read.scale * sums.second()};
  }
  /// The score of a prediction, given the score by the last sums.
  template <class Row>
  double judged(const Row& x, double margin) const {
    if constexpr (!averages) return margin;
    const double sum = x.sum([&](index_t j, double xj) { return soft_threshold(sum_to_read(j), read.cut) * xj; }, nothing);
    return -read.scale * sum + x.of_constant([&](index_t j, double bias) { return bias * weight(j); });
  }
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep keep) {
    if constexpr (std::is_same_v<Keep, AllFeatures> && std::is_same_v<Sums, Direct>) {
      double* const sums = gradient_sum.value;  // no offsets
      return x.each([=](index_t j, double xj) { sums[j] += slope * xj; });
    }
    const auto count = [&](index_t j, double xj) { gradient_sum.add(j, slope * xj, mass); };
    x.each([&](index_t j, double xj) {
      if (keep(j)) count(j, xj);
    }, count);
  }
  template <class Row>
  double reach(const Row& x) const {
    const double t = *n_steps + 1;
    return x.square() / (l2_weight * t + std::sqrt(t) / eta0);
  }
  double weight(index_t j) const { return shrunk(j, sum_to_read(j), read); }
  template <class Of = Sums, std::enable_if_t<std::is_same_v<Of, Direct>, int> = 0>
  bool surely_finite(index_t n) const {
    const double scale = std::max(read.scale, read.constant_scale);
    return scale < 1e200 && all_within(gradient_sum.value, n, 1e100);
  }
  bool active(index_t j) const { return order(j) > read.cut; }

  double order(index_t j) const { return std::fabs(sum_to_read(j)); }
  void cut_at(double order) { read.cut = order; }
  double penalty_at(double order) const { return order / steps_to_read(); }
  void set_penalty(double p) {
    alpha = p;
    look_up();
  }

  double batch_size() const { return gradient_sum.batch_size; }
  bool row_completes_batch() { return gradient_sum.row_completes_batch(); }
  void step() {
    gradient_sum.next_batch();
    if (averages) ++*n_iterates;
    look_up();
  }
  /// Completes the mini-batch with the rows it has. Returns false if it has none.
  bool finish() {
    if (gradient_sum.n_unfinished() == 0) return false;
    gradient_sum.scale_held(gradient_sum.batch_size / gradient_sum.n_unfinished());
    return true;
  }
  void settle() { gradient_sum.settle(); }
  void rebuild() { look_up(); }

 private:
  double sum_to_read(index_t j) const {
    if constexpr (averages) return gradient_sum[j] - share * gradient_sum.offset_at(j);
    else return gradient_sum[j];
  }
  double steps_to_read() const { return mass > 0 ? *n_steps * (2 * *n_iterates + 1) / (3 * *n_iterates) : *n_steps; }
  double shrunk(index_t j, double sum, const Shrinkage& by) const {
    return j >= constant && free_constant ? -by.constant_scale * sum : -by.scale * soft_threshold(sum, by.cut);
  }
  Shrinkage after(double t) const {
    const double inertia = std::sqrt(t) / eta0, scale = 1 / (l2_weight * t + inertia);
    const double cut = rho == 0 ? alpha * t : alpha * t + rho * inertia;  // without rho, the cut needs no square root
    return {cut, scale, l2_weight == 0 ? scale : 1 / inertia};
  }
  void look_up() {
    if (*n_steps == 0) return;
    now = read = after(*n_steps);
    if constexpr (averages) {
      mass = *n_iterates * (*n_iterates + 1) / 2;
      share = mass > 0 ? 1 / mass : 0;
      read = after(steps_to_read());
    }
  }
};

template <class Sums>
using L1Rda = Sparse<L1RdaRule<Sums>>;

THRESHER_LEARNER(L1Rda, "l1 and l2 dual averaging, a step for every row.", L1Rda<Direct>)
THRESHER_LEARNER(L1RdaMean, "The same, read by the mean of its gradient sums.", L1Rda<Averaged>)
THRESHER_LEARNER(L1RdaJoint, "l1 and l2 dual averaging, several classes in one step.", JointOf<L1Rda<Direct>>)
THRESHER_LEARNER(L1RdaMeanJoint, "The same, read by the mean of its gradient sums.", JointOf<L1Rda<Averaged>>)
THRESHER_LEARNER(L1RdaBatch, "l1 and l2 dual averaging, a step for every batch_size rows.", L1Rda<HeldBack>)

}  // namespace thresher
