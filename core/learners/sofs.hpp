#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "../budget.hpp"
#include "../learner.hpp"
#include "../loss.hpp"

namespace thresher {

/// Second-order online feature selection: diagonal AROW on all features, of which the B with the smallest variances have
/// weights. On a row with hinge loss l = max(0, 1 - y <mu, x>) > 0, with beta = 1 / (sum_j s_j x_j^2 + r),
///
///     mu_j += l beta y s_j x_j,     1 / s_j += x_j^2 / r,     mu_j = 0 outside the B smallest s_j
///
/// A variance only falls, and only if its feature is in the row. A feature of the row outside the B enters if `advantage` times
/// its s_j is below their largest, which it replaces (of equal ones, the last). A heap with the largest on top costs O(log B)
/// per non-zero. A row weight divides r. The constant is never counted and never cut.   Wu, Hoi, Mei & Yu, TKDD 11 (2017).
struct Sofs : Plain {
  struct Belief { double mean, variance; };
  Belief* belief;
  double *names, *place;  // 1 + the feature at a place of the heap, 1 + the place of a feature; 0: none
  index_t room, n_used = 0, constant;
  double r, advantage;
  std::vector<index_t> idle;  // during an update, features of the row that are not in use

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {{"coef", "weight", 0.0, "weighted", "variance"},
            {"variance", "weight", 1.0, "precision", "", "coef"},
            {"place", "weight", 0.0, "derived"},
            Budget::field()};
  }
  template <class Source>
  explicit Sofs(const Source& s)
      : belief(reinterpret_cast<Belief*>(s.pair("coef", "variance"))), place(s.array("place", "weight")), room(budget_of(s)),
        constant(s.n_weights - 1), r(s.number("r")), advantage(s.number("advantage")) {
    names = s.array("selected", "selected");
    for (; n_used < room && names[n_used] != 0; ++n_used) feature_named(names[n_used], constant);
  }

  template <class Row>
  double margin(const Row& x) const {
    return x.sum([&](index_t j, double xj) { return belief[j].mean * xj; });
  }
  double weight(index_t j) const { return belief[j].mean; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double l = loss(margin, y), inertia = r / weight;
    if (l == 0 || !std::isfinite(inertia)) return false;  // the row weight is negligible
    const double spread = x.sum([&](index_t j, double xj) { return belief[j].variance * xj * xj; });
    const double step = l / (spread + inertia) * y;
    const auto learn = [&](index_t j, double xj) {
      const double sx = belief[j].variance * xj;
      belief[j].mean += step * sx;
      belief[j].variance = std::max(belief[j].variance * (inertia / (inertia + sx * xj)), std::numeric_limits<double>::min());
    };
    x.each([&](index_t j, double xj) {
      if (xj == 0) return;
      learn(j, xj);
      if (in_use(j)) sink(static_cast<index_t>(place[j]) - 1);  // at once: sink() repairs only one misplaced key
      else idle.push_back(j);
    }, learn);
    for (const index_t j : idle) enter(j);
    idle.clear();
    return true;
  }

  /// Selects, of the features met, those with the smallest variances, where that of a feature with a weight is divided by
  /// `advantage`. Ties go to features with a weight, then to the first.
  void rebuild() {
    std::vector<index_t> met;
    for (index_t j = 0; j < constant; ++j)
      if (belief[j].mean != 0 || belief[j].variance < 1) met.push_back(j);
    const auto doubt = [&](index_t j) { return belief[j].variance / (belief[j].mean != 0 ? advantage : 1); };
    const auto surer = [&](index_t a, index_t b) {
      if (doubt(a) != doubt(b)) return doubt(a) < doubt(b);
      const bool zero_a = belief[a].mean == 0, zero_b = belief[b].mean == 0;
      return zero_a != zero_b ? zero_b : a < b;
    };
    std::sort(met.begin(), met.end(), surer);
    std::fill(place, place + constant, 0.0);
    std::fill(names, names + n_used, 0.0);
    n_used = 0;
    for (const index_t j : met)
      if (n_used < room) rise(n_used++, j);
      else belief[j].mean = 0;
  }

 private:
  index_t at(index_t k) const { return static_cast<index_t>(names[k]) - 1; }
  bool in_use(index_t j) const {  // a place read from a file counts only if the heap confirms it
    return place[j] >= 1 && place[j] <= static_cast<double>(n_used) && at(static_cast<index_t>(place[j]) - 1) == j;
  }
  bool above(index_t a, index_t b) const {
    return belief[a].variance > belief[b].variance || (belief[a].variance == belief[b].variance && a > b);
  }
  void put(index_t k, index_t j) {
    names[k] = static_cast<double>(j + 1);
    place[j] = static_cast<double>(k + 1);
  }
  void enter(index_t j) {
    if (n_used < room) return rise(n_used++, j);
    const index_t largest = at(0);
    if (!(belief[j].variance * advantage < belief[largest].variance)) {
      belief[j].mean = 0;
      return;
    }
    belief[largest].mean = 0;
    place[largest] = 0;
    put(0, j);
    sink(0);
  }
  void rise(index_t k, index_t j) {
    for (; k > 0 && above(j, at((k - 1) / 2)); k = (k - 1) / 2) put(k, at((k - 1) / 2));
    put(k, j);
  }
  void sink(index_t k) {
    const index_t j = at(k);
    for (index_t child; (child = 2 * k + 1) < n_used; k = child) {
      if (child + 1 < n_used && above(at(child + 1), at(child))) ++child;
      if (!above(at(child), j)) break;
      put(k, at(child));
    }
    put(k, j);
  }
};

THRESHER_LEARNER(Sofs, "SOFS: n_selecteds, r, advantage.", Sofs)

}  // namespace thresher
