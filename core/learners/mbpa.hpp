#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "../budget.hpp"
#include "../costs.hpp"
#include "../learner.hpp"

namespace thresher {

/// Passive-aggressive learning with a margin for each class and at most B weights. Its parts are published, but not their
/// combination. With the loss l = max(0, rho_y - y <w, x>) > 0,
///
///     w <- w + min(C, l / |x|^2) y x,   w <- min(1, 1 / (sqrt(lambda) |w|)) w,   the B largest |w_j| stay
///
/// rho_y is 1 for negatives. A row weight multiplies C.   Crammer et al., JMLR 7 (2006), PA-I; Wang et al., TKDE 26 (2014).
struct Mbpa : Plain {
  double* coef;
  Budget budget;
  Costs costs;
  double C, alpha;  // alpha: lambda

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    std::vector<Field> all{{"coef", "weight", 0.0, "mean"}, Budget::field()};
    Costs::declare(all);
    return all;
  }
  template <class Source>
  explicit Mbpa(const Source& s)
      : coef(s.array("coef", "weight")), budget(s), costs(s), C(s.number("C")), alpha(s.number("alpha")) {}

  template <class Row>
  double margin(const Row& x) const {
    return x.dot(coef);
  }
  double weight(index_t j) const { return coef[j]; }
  double loss(double margin, double y) const { return std::max(0.0, costs.of(y) - y * margin); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double l = loss(margin, y);
    costs.count(y);
    const double square = x.square();
    if (l == 0 || square < std::numeric_limits<double>::min()) return false;
    const double tau = std::min(C * weight, l / square);
    budget.add(x, tau * y, coef, 1 / std::sqrt(alpha));
    return true;
  }
  void rebuild() { budget.rebuild(coef); }
};

THRESHER_LEARNER(Mbpa, "PA-I on a budget, a margin per class: n_selecteds, C, alpha, cost_ratio.", Mbpa)

}  // namespace thresher
