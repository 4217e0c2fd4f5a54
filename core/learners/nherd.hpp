#pragma once
#include "confidence_lanes.hpp"
#include "joint.hpp"
#include "surest.hpp"

namespace thresher {

/// Normal herd: every weight vector of N(mu, Sigma) takes the PA-II step w -> A w + b of the row, which gives the new normal
/// distribution. On a row with hinge loss l > 0, with g = 1 / C, v = x' Sigma x and beta = 1 / (v + g):
///
///     mu    += l beta y Sigma x
///     Sigma -= beta^2 (v + 2 g) (Sigma x)(Sigma x)'      the same as   Sigma^-1 += (v + 2 g) / g^2  x x'
///
/// A row weight multiplies C.   Crammer & Lee, NIPS 2010, Fig. 1.
struct NherdRule : ConfidenceRule {
  double C;

  template <class Source>
  explicit NherdRule(const Source& s) : C(s.number("C")) {}

  Step step(double m, double v, double weight) const override {
    const double g = 1 / (C * weight);
    return {(1 - m) / (v + g), g / (v / g + 2)};
  }
};

THRESHER_LEARNER(NherdDiagonal, "Normal herd: C, precision, n_selected.", SurestDiagonal<NherdRule>)
THRESHER_LEARNER(NherdFull, "Normal herd: C, n_selected.", SurestFull<NherdRule>)
THRESHER_LEARNER(NherdJoint, "Normal herd of several classes in one step: C, precision.", JointDiagonal<NherdRule>)

}  // namespace thresher
