#pragma once
#include <cmath>

#include "../joint_of.hpp"
#include "../lanes.hpp"
#include "../shrink.hpp"
#include "sparse.hpp"

namespace thresher {

/// Follow the regularised leader, proximal form: each gradient is summed with a pull towards the weights at which it was taken.
///
///     w = argmin_w  <z, w> + l1 |w|_1 + (l2 + (beta + sqrt(n)) / alpha) w^2 / 2
///       = -soft(z, l1) / (l2 + (beta + sqrt(n)) / alpha),         feature by feature
///     z += g - w (sqrt(n + g^2) - sqrt(n)) / alpha,   n += g^2
///
/// A free constant feature has neither l1 nor l2. A weight is a function of (z, n), but is stored as well, so that a score is a
/// plain product. A row costs O(non-zeros), a change of the penalty O(d).
/// McMahan et al., KDD 2013, Algorithm 1.
struct FtrlRule {
  using Second = FtrlRule;
  static constexpr bool lazy = true;  // a new penalty changes all weights
  struct Sums { double z, n; };
  Sums* sums;
  double* coef;
  double inverse_alpha, beta, l1, l2;
  double threshold;  // a weight is 0 if |z| is at most this: l1, unless n_selected weights are read
  bool free_constant;
  index_t constant, n_weights;
  bool sound = true;

  static void declare(std::vector<Field>& all, bool second) {
    const auto [z, n] = names(second);
    all.push_back({z, "weight", 0.0, "sum"});
    all.push_back({n, "weight", 0.0, "sum", "", z});
    all.push_back({coef_name(second), "weight", 0.0, "derived"});
  }
  template <class Source>
  FtrlRule(const Source& s, bool second)
      : sums(reinterpret_cast<Sums*>(s.pair(names(second).first, names(second).second))),
        coef(s.array(coef_name(second), "weight")), inverse_alpha(1 / s.number("alpha")), beta(s.number("beta")),
        l1(second ? 0 : s.number("l1")), l2(s.number("l2")), threshold(l1), free_constant(s.flag("free_constant")),
        constant(s.constant()), n_weights(s.n_weights) {}

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) const {
    return x.sum([&](index_t j, double xj) { return keep(j) ? coef[j] * xj : 0; },
                 [&](index_t j, double xj) { return coef[j] * xj; });
  }
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep keep) {
    double all = 0;
    x.each([&](index_t j, double xj) {
      if (keep(j)) all += move(j, slope * xj, l1, l2);
    }, [&](index_t j, double xj) { all += free_constant ? move(j, slope * xj, 0, 0) : move(j, slope * xj, l1, l2); });
    sound = std::isfinite(all);
  }
  template <class Row>
  static constexpr double reach(const Row&) {
    return 0;
  }
  double weight(index_t j) const {
    if (j < constant || !free_constant) return penalised(j);
    return sums[j].n == 0 ? 0 : pulled(sums[j], std::sqrt(sums[j].n), 0, 0);  // no 0 / 0 if beta is 0
  }
  bool active(index_t j) const { return order(j) > threshold; }

  double order(index_t j) const { return std::fabs(sums[j].z); }
  void cut_at(double order) {
    threshold = order;
    l1 = std::min(l1, order);
  }  // weights keep the l1 with which they were learned
  double penalty_at(double order) const { return order; }
  void set_penalty(double p) { l1 = threshold = p; }

  static constexpr double batch_size() { return 1; }
  static constexpr bool row_completes_batch() { return true; }
  static constexpr double n_unfinished() { return 0; }
  void step() {}
  static constexpr bool finish() { return false; }
  void settle() {}
  void rebuild() {
    for (index_t j = 0; j < n_weights; ++j) coef[j] = weight(j);
  }

 private:
  static std::pair<const char*, const char*> names(bool second) {
    return second ? std::pair("debiased_z", "debiased_n") : std::pair("z", "n");
  }
  static const char* coef_name(bool second) { return second ? "debiased_coef" : "coef"; }
  double pulled(const Sums& s, double root, double cut, double ridge) const {
    return -soft_threshold(s.z, cut) / (ridge + (beta + root) * inverse_alpha);
  }
  double penalised(index_t j) const {
    return std::fabs(sums[j].z) <= threshold ? 0 : pulled(sums[j], std::sqrt(sums[j].n), l1, l2);  // most are 0 and need no root
  }
  /// Written without a branch, which would often be mispredicted. Both roots take the time of one.
  double move(index_t j, double g, double cut, double ridge) {
    Sums& s = sums[j];
    const double n = s.n + g * g, w = coef[j];
    Two roots;
    take_root(roots, Two(n, s.n));
    const double z = s.z + (g - w * (roots.first() - roots.second()) * inverse_alpha), pulled = -soft_threshold(z, cut);
    coef[j] = choose(pulled == 0, 0, pulled / (ridge + (beta + roots.first()) * inverse_alpha));
    s.z = z;
    return s.n = n;
  }
};

using Ftrl = Sparse<FtrlRule>;

THRESHER_LEARNER(Ftrl, "FTRL-proximal.", Ftrl)
THRESHER_LEARNER(FtrlJoint, "FTRL-proximal, several classes in one step.", JointOf<Ftrl>)

}  // namespace thresher
