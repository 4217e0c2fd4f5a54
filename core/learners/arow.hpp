#pragma once
#include "confidence_lanes.hpp"
#include "joint.hpp"

namespace thresher {

/// Adaptive regularisation of weights. On a row with hinge loss l = max(0, 1 - y <mu, x>) > 0:
///
///     beta   = 1 / (x' Sigma x + r)
///     mu    += l beta y Sigma x
///     Sigma -= beta (Sigma x)(Sigma x)'      the same as   Sigma^-1 += x x' / r
///
/// A row weight divides r.   Crammer, Kulesza & Dredze, NIPS 2009, Fig. 1.
struct ArowRule : ConfidenceRule {
  double r;

  template <class Source>
  explicit ArowRule(const Source& s) : r(s.number("r")) {}

  Step step(double m, double v, double weight) const override {
    const double inertia = r / weight, beta = 1 / (v + inertia);
    return {(1 - m) * beta, inertia};
  }
};

THRESHER_LEARNER(ArowDiagonal, "AROW with one variance per weight: r, precision.", ConfidentDiagonal<ArowRule>)
THRESHER_LEARNER(ArowFull, "AROW with a full covariance: r.", ConfidentFull<ArowRule>)
THRESHER_LEARNER(ArowJoint, "AROW of several classes in one step: r, precision.", JointDiagonal<ArowRule>)

}  // namespace thresher
