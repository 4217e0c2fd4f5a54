#pragma once
#include <algorithm>

#include "../budget.hpp"
#include "../learner.hpp"

namespace thresher {

/// The perceptron with at most B weights: if y <w, x> <= 0,   w <- w + eta y x,   and the B largest |w_j| stay.
///
/// A row weight multiplies eta. The loss is max(0, -y <w, x>).   Wang, Zhao, Hoi & Jin, TKDE 26 (2014).
struct Petrun : Plain {
  double* coef;
  Budget budget;
  double eta0;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {{"coef", "weight", 0.0, "mean"}, Budget::field()};
  }
  template <class Source>
  explicit Petrun(const Source& s) : coef(s.array("coef", "weight")), budget(s), eta0(s.number("eta0")) {}

  template <class Row>
  double margin(const Row& x) const {
    return x.dot(coef);
  }
  double weight(index_t j) const { return coef[j]; }
  double loss(double margin, double y) const { return std::max(0.0, -y * margin); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    if (y * margin > 0) return false;
    budget.add(x, eta0 * weight * y, coef);
    return true;
  }
  void rebuild() { budget.rebuild(coef); }
};

THRESHER_LEARNER(Petrun, "A perceptron on a budget: n_selecteds, eta0.", Petrun)

}  // namespace thresher
