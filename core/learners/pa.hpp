#pragma once
#include <algorithm>
#include <limits>

#include "../late_mean.hpp"
#include "../learner.hpp"
#include "../loss.hpp"

namespace thresher {

/// tau for a row with loss l and |x|^2 = square. With an infinite cost, this is the hard variant.
inline double pa_step(double l, double square, double cost, bool squared) {
  return squared ? l / (square + 1 / (2 * cost)) : std::min(cost, l / square);
}

/// Passive-aggressive classification: the smallest change of w that removes a row's hinge loss l = max(0, 1 - y <w, x>), as far
/// as C allows.
///
///     w += tau y x      tau = l / |x|^2 (hard)  |  min(C, l / |x|^2) (I)  |  l / (|x|^2 + 1 / (2 C)) (II)
///
/// A row weight multiplies C.   Crammer et al., JMLR 7 (2006), Fig. 1.
struct Pa : Plain {
  LateWeights w;
  double C;  // infinite for the hard variant
  bool squared;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all;
    LateWeights::declare(all, s);
    return all;
  }
  template <class Source>
  explicit Pa(const Source& s) : w(s), C(s.number("C")), squared(s.flag("squared")) {}

  template <class Row>
  double margin(const Row& x) const {
    return w.scores(x).first();
  }
  template <class Row>
  Two both_scores(const Row& x) const {
    return w.scores(x);
  }
  double weight(index_t j) const { return w.weight(j); }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const bool moved = learn(x, y, margin, weight);
    w.step();
    return moved;
  }

 private:
  template <class Row>
  bool learn(const Row& x, double y, double margin, double weight) {
    const double l = loss(margin, y);
    if (l == 0) return false;
    const double square = x.square();
    if (square < std::numeric_limits<double>::min()) return false;  // l / square could overflow
    w.add(x, pa_step(l, square, C * weight, squared) * y);
    return true;
  }
};

THRESHER_LEARNER(Pa, "Passive-aggressive: C, squared, average.", Pa)

}  // namespace thresher
