#pragma once
#include "cw.hpp"
#include "joint.hpp"

namespace thresher {

/// Soft confidence-weighted learning: the constraint of CW may be violated at a cost.
///
///     min KL(N(mu', Sigma') || N(mu, Sigma)) + C l (I)  |  + C l^2 (II),      l = max(0, phi sqrt(v') - m')
///
/// I: the step of CW with alpha at most C. II: with n = v + 1 / (2 C),
///
///     alpha = (-(2 m n + phi^2 m v) + phi sqrt(phi^2 m^2 v^2 + 4 n v (n + v phi^2))) / (2 (n^2 + n v phi^2))
///
/// A row weight multiplies C.   Wang, Zhao & Hoi, ICML 2012, Propositions 1 and 2.
struct ScwRule : PhiRule {
  double C;
  bool squared;

  template <class Source>
  explicit ScwRule(const Source& s) : PhiRule(s), C(s.number("C")), squared(s.flag("squared")) {}

  Step step(double m, double v, double weight) const override {
    const double cost = C * weight;
    return step_of(squared ? pull_to(m, v, v + 1 / (2 * cost)) : std::min(cost, pull_to(m, v, v)), v);
  }
};

THRESHER_LEARNER(ScwDiagonal, "Soft CW: C, phi, squared, precision, n_selected.", SurestDiagonal<ScwRule>)
THRESHER_LEARNER(ScwFull, "Soft CW: C, phi, squared, n_selected.", SurestFull<ScwRule>)
THRESHER_LEARNER(ScwJoint, "Soft CW of several classes in one step: C, phi, squared, precision.", JointDiagonal<ScwRule>)

}  // namespace thresher
