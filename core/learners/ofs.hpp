#pragma once
#include <algorithm>
#include <cmath>

#include "../budget.hpp"
#include "../learner.hpp"
#include "../loss.hpp"

namespace thresher {

/// Online feature selection: a gradient step on the hinge loss with an l2 penalty, then truncation to at most B weights.
///
///     w <- (1 - lambda eta) w
///     if y <w, x> <= 1 before:   w <- w + eta y x,   w <- min(1, 1 / (sqrt(lambda) |w|)) w,   the B largest |w_j| stay
///
/// A row weight multiplies eta. A step of at least 1 / lambda first removes all weights. Without `shrink`, the factor
/// 1 - lambda eta is left out, as in the authors' MATLAB code.   Wang, Zhao, Hoi & Jin, TKDE 26 (2014).
struct Ofs : Plain {
  double* coef;
  Budget budget;
  double alpha, eta0;  // lambda, eta
  bool shrink;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {{"coef", "weight", 0.0, "mean"}, Budget::field()};
  }
  template <class Source>
  explicit Ofs(const Source& s)
      : coef(s.array("coef", "weight")), budget(s), alpha(s.number("alpha")), eta0(s.number("eta0")), shrink(s.flag("shrink")) {}

  template <class Row>
  double margin(const Row& x) const {
    return x.dot(coef);
  }
  double weight(index_t j) const { return coef[j]; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double eta = eta0 * weight;
    if (shrink) budget.scale(coef, std::max(0.0, 1 - alpha * eta));
    if (y * margin > 1) return false;
    budget.add(x, eta * y, coef, 1 / std::sqrt(alpha));
    return true;
  }
  void rebuild() { budget.rebuild(coef); }
};

THRESHER_LEARNER(Ofs, "OFS: n_selecteds, alpha, eta0, shrink.", Ofs)

}  // namespace thresher
