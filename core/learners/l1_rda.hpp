#pragma once
#include <cmath>

#include "../shrink.hpp"
#include "sparse.hpp"

namespace thresher {

/// Dual averaging with an l1 and an l2 penalty. After t steps, with gradient sum G,
///
///     w = argmin_w  <G / t, w> + alpha |w|_1 + l2_weight |w|^2 / 2 + (1 / (eta0 sqrt(t))) (|w|^2 / 2 + rho |w|_1)
///       = -soft(G, alpha t + rho sqrt(t) / eta0) / (l2_weight t + sqrt(t) / eta0)
///
/// Only G is stored; a weight is computed when a row asks for it, so a sparse row costs O(non-zeros) and the model is exact
/// after every step. A free constant feature has no penalty: w = -eta0 G / sqrt(t).
/// Xiao, JMLR 11 (2010), Algorithm 1; rho as in Yang (2011), eq. 3.14.
template <class Sums>
struct L1RdaRule {
  using Second = L1RdaRule;
  static constexpr bool lazy = false, sound = true;
  Sums gradient_sum;
  double* n_steps;
  double alpha, eta0, rho, l2_weight;
  bool free_constant;
  index_t constant;
  double cut = 0, scale = 0, constant_scale = 0;  // functions of n_steps

  static const char* name(bool second) { return second ? "debiased_gradient_sum" : "gradient_sum"; }
  static void declare(std::vector<Field>& all, bool second) { Sums::declare(all, name(second), "sum", false); }
  template <class Source>
  L1RdaRule(const Source& s, bool second)
      : gradient_sum(s, name(second), false), n_steps(s.array("n_steps", "")), alpha(second ? 0 : s.number("alpha")),
        eta0(s.number("eta0")), rho(second ? 0 : s.number("rho")), l2_weight(s.number("l2_weight")),
        free_constant(s.flag("free_constant")), constant(s.n_weights - 1) {
    look_up();
  }

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) const {
    const double sum =
        x.sum([&](index_t j, double xj) { return keep(j) ? soft_threshold(gradient_sum[j], cut) * xj : 0; }, nothing);
    return -scale * sum + x.bias * weight(constant);
  }
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep keep) {
    const auto count = [&](index_t j, double xj) { gradient_sum.add(j, slope * xj, 0); };
    x.each([&](index_t j, double xj) {
      if (keep(j)) count(j, xj);
    }, count);
  }
  template <class Row>
  double reach(const Row& x) const {
    const double t = *n_steps + 1;
    return x.square() / (l2_weight * t + std::sqrt(t) / eta0);
  }
  double weight(index_t j) const {
    return j == constant && free_constant ? -constant_scale * gradient_sum[j] : -scale * soft_threshold(gradient_sum[j], cut);
  }
  bool active(index_t j) const { return order(j) > cut; }

  double order(index_t j) const { return std::fabs(gradient_sum[j]); }
  void cut_at(double order) { cut = order; }
  double penalty_at(double order) const { return order / *n_steps; }
  void set_penalty(double p) {
    alpha = p;
    look_up();
  }

  double batch_size() const { return gradient_sum.batch_size; }
  bool row_completes_batch() { return gradient_sum.row_completes_batch(); }
  void step() {
    gradient_sum.next_batch();
    look_up();
  }
  bool finish() {  // the rows at hand are the batch
    if (gradient_sum.n_unfinished() == 0) return false;
    gradient_sum.scale_held(gradient_sum.batch_size / gradient_sum.n_unfinished());
    return true;
  }
  void settle() { gradient_sum.settle(); }
  void rebuild() { look_up(); }

 private:
  void look_up() {
    const double t = *n_steps, inertia = std::sqrt(t) / eta0;
    if (t == 0) return;
    cut = alpha * t + rho * inertia;
    scale = 1 / (l2_weight * t + inertia);
    constant_scale = l2_weight == 0 ? scale : 1 / inertia;
  }
};

template <class Sums>
using L1Rda = Sparse<L1RdaRule<Sums>>;

THRESHER_LEARNER(L1Rda, "l1 and l2 dual averaging, a step for every row.", L1Rda<Direct>)
THRESHER_LEARNER(L1RdaBatch, "l1 and l2 dual averaging, a step for every batch_size rows.", L1Rda<HeldBack>)

}  // namespace thresher
