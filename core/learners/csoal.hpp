#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

#include "../costs.hpp"
#include "../draws.hpp"
#include "../late_mean.hpp"

namespace thresher {

/// Cost-sensitive online active learning. The label of a row with score f is queried with probability delta / (delta + |f|),
/// until `query_budget` labels have been queried. A queried row makes a PA-I step on a cost-sensitive hinge loss:
///
///     margin:  l = max(0, rho_y - y f),   w += min(C, l / |x|^2) y x
///     weight:  l = max(0, 1 - y f),       w += min(C rho_y, l / |x|^2) y x
///
/// Other rows only count a step. rho_y is 1 for negatives; a row weight multiplies C. The draw is a function of seed and step.
/// Zhao & Hoi, KDD 2013, with passive-aggressive steps.
struct Csoal : Plain {
  double *coef, *n_steps, *n_queried;
  double seed;
  LateMean mean;  // of the iterates after each query
  Costs costs;
  double C, delta, query_budget;
  bool by_weight;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all{{"coef", "weight", 0.0, "mean"},
                           Field{"n_steps", "", 0.0, "sum"}.counts(),
                           Field{"n_queried", "", 0.0, "sum"}.counts("n_steps"),
                           Field{"seed", "", 0.0, "sum"}.counts()};  // merging keeps a common start's seed, or makes a new one
    Costs::declare(all);
    LateMean::declare(all, s);
    return all;
  }
  template <class Source>
  explicit Csoal(const Source& s)
      : coef(s.array("coef", "weight")), n_steps(s.array("n_steps", "")), n_queried(s.array("n_queried", "")),
        seed(*s.array("seed", "")), mean(s), costs(s), C(s.number("C")), delta(s.number("delta")),
        query_budget(s.number("query_budget")), by_weight(s.flag("by_weight")) {}

  template <class Row>
  double margin(const Row& x) const {
    return x.dot(coef);
  }
  double weight(index_t j) const { return mean.of(j, coef[j]); }
  template <class Row>
  Two both_scores(const Row& x) const {
    return mean.scores(x, [&](index_t j) { return coef[j]; });
  }
  double loss(double margin, double y) const {
    const double rho = costs.of(y);
    return by_weight ? rho * std::max(0.0, 1 - y * margin) : std::max(0.0, rho - y * margin);
  }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    ++*n_steps;
    if (!(*n_queried < query_budget)) return false;
    if (!(Draws(seed)(0, *n_steps) * (delta + std::abs(margin)) < delta)) return false;
    ++*n_queried;
    const bool moved = learn(x, y, margin, weight);
    mean.step();
    return moved;
  }

 private:
  template <class Row>
  bool learn(const Row& x, double y, double margin, double weight) {
    const double rho = costs.of(y), l = std::max(0.0, (by_weight ? 1 : rho) - y * margin);
    costs.count(y);
    const double square = x.square();
    if (l == 0 || square < std::numeric_limits<double>::min()) return false;
    const double tau = std::min(C * weight * (by_weight ? rho : 1), l / square);
    mean.watch([&](auto note) {
      x.each([&](index_t j, double xj) {
        coef[j] += tau * y * xj;
        note(j, tau * y * xj);
      });
    });
    return true;
  }
};

THRESHER_LEARNER(Csoal, "Cost-sensitive active PA-I: C, delta, query_budget, cost_ratio, by_weight.", Csoal)

}  // namespace thresher
