#pragma once
#include "confidence_lanes.hpp"
#include "joint.hpp"
#include "surest.hpp"

namespace thresher {

/// Rules with a required confidence: the margin of a row must be at least phi standard deviations (or variances).
struct PhiRule : ConfidenceRule {
  double phi;

  template <class Source>
  explicit PhiRule(const Source& s) : phi(s.number("phi")) {}

  bool satisfied(double) const override { return false; }  // the margin alone does not decide

 protected:
  /// The pull after which  m' = phi sqrt(v') - slack,  slack = pull (n - v); 0 if m is large enough. Roots and differences are
  /// written so that nothing cancels: (phi sqrt(v) - m)(phi sqrt(v) + m) stands for a difference of two large numbers.
  double pull_to(double m, double v, double n) const {
    const double want = phi * std::sqrt(v), missing = want - m;
    if (!(v > 0) || !(missing > 0)) return 0;
    const double a = m * (2 * n + phi * phi * v), whole = n + v * phi * phi;
    const double root = phi * std::hypot(phi * m * v, 2 * std::sqrt(n) * std::sqrt(v) * std::sqrt(whole));
    return m > 0 ? 2 * missing * (want + m) / (a + root) : (root - a) / (2 * n * whole);
  }
  /// The step with this pull and the inertia sqrt(u) / (pull phi), where u is the variance of the score after the step.
  Step step_of(double pull, double v) const {
    if (!(pull > 0)) return Step::none();
    const double gain = pull * phi;
    const double deviation = 2 * v / (gain * v + std::hypot(gain * v, 2 * std::sqrt(v)));  // sqrt(u)
    return {pull, deviation / gain};
  }
};

/// Confidence-weighted learning: the normal distribution nearest to the old one that classifies the row correctly with the
/// required probability.
///
///     min KL(N(mu', Sigma') || N(mu, Sigma))      subject to   m' >= phi sqrt(v')
///
/// with m = y <mu, x> and v = x' Sigma x; primes mark values after the step. For a row that violates the constraint, with
/// psi = 1 + phi^2 / 2 and zeta = 1 + phi^2,
///
///     alpha  = (-m psi + sqrt(m^2 phi^4 / 4 + v phi^2 zeta)) / (v zeta)
///     mu    += alpha y Sigma x,   Sigma^-1 += alpha phi / sqrt(v')  x x',
///     sqrt(v') = (-alpha v phi + sqrt(alpha^2 v^2 phi^2 + 4 v)) / 2
///
/// The constraint is hard, so the size of a row weight above 0 has no effect.   Crammer, Dredze & Pereira, NIPS 2008, Fig. 1.
struct CwRule : PhiRule {
  using PhiRule::PhiRule;
  Step step(double m, double v, double) const override { return step_of(pull_to(m, v, v), v); }
};

/// The same with a variance in place of the standard deviation:  m' >= phi v'.
///
///     alpha  = (-b + sqrt(b^2 - 8 phi (m - phi v))) / (4 phi v),   b = 1 + 2 phi m
///     mu    += alpha y Sigma x,   Sigma^-1 += 2 alpha phi x x'
///
/// Dredze, Crammer & Pereira, ICML 2008, section 3.
struct CwVarianceRule : PhiRule {
  using PhiRule::PhiRule;

  Step step(double m, double v, double) const override {
    const double missing = phi * v - m;
    if (!(v > 0) || !(missing > 0)) return Step::none();
    const double b = 1 + 2 * phi * m, root = std::hypot(b, std::sqrt(8 * phi * missing));
    const double pull = b > 0 ? 2 * missing / (v * (b + root)) : (root - b) / (4 * phi * v);
    return {pull, 1 / (2 * pull * phi)};
  }
};

THRESHER_LEARNER(CwDiagonal, "CW with one variance per weight: phi, precision, n_selected.", SurestDiagonal<CwRule>)
THRESHER_LEARNER(CwFull, "CW with a full covariance: phi, n_selected.", SurestFull<CwRule>)
THRESHER_LEARNER(CwVarianceDiagonal, "CW that bounds variances: phi, precision, n_selected.", SurestDiagonal<CwVarianceRule>)
THRESHER_LEARNER(CwVarianceFull, "CW that bounds variances: phi, n_selected.", SurestFull<CwVarianceRule>)
THRESHER_LEARNER(CwJoint, "CW of several classes in one step: phi, precision.", JointDiagonal<CwRule>)
THRESHER_LEARNER(CwVarianceJoint, "CW that bounds variances, of several classes: phi, precision.", JointDiagonal<CwVarianceRule>)

}  // namespace thresher
