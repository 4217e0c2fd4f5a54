#pragma once
#include <cmath>

#include "../loss.hpp"
#include "../shrink.hpp"
#include "../weights.hpp"

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
struct L1Rda : Plain {
  Sums gradient_sum;
  double* n_steps;
  double alpha, eta0, rho, l2_weight;
  bool free_constant;
  index_t constant;
  const Loss& criterion;
  double cut = 0, scale = 0, constant_scale = 0;  // functions of n_steps

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    std::vector<Field> all{{"n_steps", "", 0.0, "sum"}};
    Sums::declare(all, "gradient_sum", "sum", false);
    return all;
  }
  template <class Source>
  explicit L1Rda(const Source& s)
      : gradient_sum(s, "gradient_sum", false), n_steps(s.array("n_steps", "")), alpha(s.number("alpha")), eta0(s.number("eta0")),
        rho(s.number("rho")), l2_weight(s.number("l2_weight")), free_constant(s.flag("free_constant")),
        constant(s.n_weights - 1), criterion(s.loss()) {
    look_up();
  }

  template <class Row>
  double margin(const Row& x) const {
    const double sum = x.sum([&](index_t j, double xj) { return soft_threshold(gradient_sum[j], cut) * xj; }, nothing);
    return -scale * sum + x.bias * weight(constant);
  }
  double weight(index_t j) const {
    return j == constant && free_constant ? -constant_scale * gradient_sum[j] : -scale * soft_threshold(gradient_sum[j], cut);
  }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double slope = weight * criterion.slope(margin, y) / gradient_sum.batch_size;
    if (slope != 0) x.each([&](index_t j, double xj) { gradient_sum.add(j, slope * xj, 0); });
    if (gradient_sum.row_completes_batch()) step();
    return slope != 0;
  }

  void finish() {  // the rows at hand are the batch
    if (gradient_sum.n_unfinished() == 0) return;
    gradient_sum.scale_held(gradient_sum.batch_size / gradient_sum.n_unfinished());
    step();
  }
  void settle() {
    finish();
    gradient_sum.settle();
  }

 private:
  void step() {
    gradient_sum.next_batch();
    ++*n_steps;
    look_up();
  }
  void look_up() {
    const double t = *n_steps, inertia = std::sqrt(t) / eta0;
    if (t == 0) return;
    cut = alpha * t + rho * inertia;
    scale = 1 / (l2_weight * t + inertia);
    constant_scale = l2_weight == 0 ? scale : 1 / inertia;
  }
};

}  // namespace thresher
