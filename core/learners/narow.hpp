#pragma once
#include "confidence_lanes.hpp"
#include "joint.hpp"
#include "surest.hpp"

namespace thresher {

/// AROW with a different inertia for every row, which bounds the sum of variances. On a row with hinge loss l > 0 and
/// variance v = x' Sigma x above 1 / b:
///
///     r_t = v / (b v - 1),   beta = 1 / (v + r_t),   mu += l beta y Sigma x,   Sigma^-1 += x x' / r_t
///
/// A row of smaller variance causes no update. A row weight divides r_t.   Orabona & Crammer, NIPS 2010, section 5.
struct NarowRule : ConfidenceRule {
  double b;

  template <class Source>
  explicit NarowRule(const Source& s) : b(s.number("b")) {}

  Step step(double m, double v, double weight) const override {
    const double excess = b * v - 1;
    if (!(excess > 0)) return Step::none();
    const double inertia = v / excess / weight;
    return {(1 - m) / (v + inertia), inertia};
  }
};

THRESHER_LEARNER(NarowDiagonal, "NAROW: b, precision, n_selected.", SurestDiagonal<NarowRule>)
THRESHER_LEARNER(NarowFull, "NAROW: b, n_selected.", SurestFull<NarowRule>)
THRESHER_LEARNER(NarowJoint, "NAROW of several classes in one step: b, precision.", JointDiagonal<NarowRule>)

}  // namespace thresher
