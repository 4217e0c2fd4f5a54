#pragma once
#include <cmath>

#include "../shrink.hpp"
#include "sparse.hpp"

namespace thresher {

/// Adaptive dual averaging: every weight has a step of its own. After t steps, with G the sum of gradients and H = smoothing +
/// sqrt(sum of their squares), feature by feature,
///
///     w = argmin_w  <G / t, w> + alpha |w|_1 + l2_weight |w|^2 / 2 + H w^2 / (2 eta0 t)
///       = -soft(G, alpha t) / (l2_weight t + H / eta0)
///
/// A free constant feature has no penalty: w = -eta0 G / H. A weight is a function of (G, H, t), computed on reading: a row costs
/// O(non-zeros).   Duchi, Hazan & Singer, JMLR 12 (2011), eq. 20; Jumutc (2016), eq. 4.22.
struct AdaptiveL1RdaRule {
  using Second = AdaptiveL1RdaRule;
  static constexpr bool lazy = false;
  struct Sums { double gradient, square; };
  Sums* sums;
  double* n_steps;
  double alpha, eta0, smoothing, l2_weight;
  bool free_constant;
  index_t constant;
  double cut = 0, ridge = 0;
  bool sound = true;

  static void declare(std::vector<Field>& all, bool second) {
    const auto [gradient, square] = names(second);
    all.push_back({gradient, "weight", 0.0, "sum"});
    all.push_back({square, "weight", 0.0, "sum", "", gradient});
  }
  template <class Source>
  AdaptiveL1RdaRule(const Source& s, bool second)
      : sums(reinterpret_cast<Sums*>(s.pair(names(second).first, names(second).second))), n_steps(s.array("n_steps", "")),
        alpha(second ? 0 : s.number("alpha")), eta0(s.number("eta0")), smoothing(s.number("smoothing")),
        l2_weight(s.number("l2_weight")), free_constant(s.flag("free_constant")), constant(s.n_weights - 1) {
    step();
  }

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) const {
    const double sum = x.sum([&](index_t j, double xj) { return keep(j) ? penalised(j) * xj : 0; }, nothing);
    return sum + x.bias * weight(constant);
  }
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep keep) {
    double all = 0;
    const auto count = [&](index_t j, double xj) {
      const double g = slope * xj;
      sums[j].gradient += g;
      all += sums[j].square += g * g;
    };
    x.each([&](index_t j, double xj) {
      if (keep(j)) count(j, xj);
    }, count);
    sound = std::isfinite(all);
  }
  template <class Row>
  static constexpr double reach(const Row&) {
    return 0;
  }
  double weight(index_t j) const { return j == constant && free_constant ? -eta0 * sums[j].gradient / inertia(j) : penalised(j); }
  bool active(index_t j) const { return order(j) > cut; }

  double order(index_t j) const { return std::fabs(sums[j].gradient); }
  void cut_at(double order) { cut = order; }
  double penalty_at(double order) const { return order / *n_steps; }
  void set_penalty(double p) {
    alpha = p;
    step();
  }

  static constexpr double batch_size() { return 1; }
  static constexpr bool row_completes_batch() { return true; }
  void step() {
    cut = alpha * *n_steps;
    ridge = l2_weight * *n_steps;
  }
  static constexpr bool finish() { return false; }
  void settle() {}
  void rebuild() { step(); }

 private:
  static std::pair<const char*, const char*> names(bool second) {
    return second ? std::pair("debiased_gradient_sum", "debiased_square_sum") : std::pair("gradient_sum", "square_sum");
  }
  double inertia(index_t j) const { return smoothing + std::sqrt(sums[j].square); }
  double penalised(index_t j) const {
    const double pulled = soft_threshold(sums[j].gradient, cut);
    return pulled == 0 ? 0 : -pulled / (ridge + inertia(j) / eta0);  // most are 0, and need no root
  }
};

using AdaptiveL1Rda = Sparse<AdaptiveL1RdaRule>;

THRESHER_LEARNER(AdaptiveL1Rda, "l1 and l2 dual averaging with a step size for every weight.", AdaptiveL1Rda)

}  // namespace thresher
