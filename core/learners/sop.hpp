#pragma once
#include "../late_mean.hpp"
#include "confidence.hpp"
#include "surest.hpp"

namespace thresher {

/// Second-order perceptron. S holds the rows of all mistakes (y score <= 0), and u is the sum of y x over them:
///
///     score = <w, x>,   w = (a I + S S')^-1 u
///
/// With Sigma = (a I + S S')^-1, which starts at I / a, a mistake is the step
///
///     w += (1 - y score) / (v + 1) y Sigma x,   Sigma^-1 += x x'
///
/// A row weight counts the row that many times.   Cesa-Bianchi, Conconi & Gentile, SIAM J. Comput. 34 (2005), Fig. 3.
struct SopRule : ConfidenceRule {
  double a;  // part of the initial Sigma

  template <class Source>
  explicit SopRule(const Source& s) : a(s.number("a")) {}
  template <class Source>
  static double prior(const Source& s) {
    return 1 / s.number("a");
  }

  bool satisfied(double m) const override { return m > 0; }
  Step step(double m, double v, double weight) const override { return {(1 - m) / (v + 1 / weight), 1 / weight}; }
};

/// The same with the diagonal of S S': a mistake adds to two sums, and a weight is their quotient. A row costs O(non-zeros).
struct SopDiagonal : Plain {
  struct Sums { double label, square; };  // of y x_j, of x_j^2
  Sums* sums;
  LateMean mean;
  double a;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all{{"label_sum", "weight", 0.0, "sum"}, {"square_sum", "weight", 0.0, "sum", "", "label_sum"}};
    LateMean::declare(all, s);
    return all;
  }
  template <class Source>
  explicit SopDiagonal(const Source& s)
      : sums(reinterpret_cast<Sums*>(s.pair("label_sum", "square_sum"))), mean(s), a(s.number("a")) {}

  double variance(index_t j) const { return 1 / (a + std::max(0.0, sums[j].square)); }
  double iterate(index_t j) const { return sums[j].label * variance(j); }
  double weight(index_t j) const { return mean.of(j, iterate(j)); }
  template <class Row>
  double margin(const Row& x) const {
    return x.sum([&](index_t j, double xj) { return iterate(j) * xj; });
  }
  template <class Row>
  Two both_scores(const Row& x) const {
    return mean.scores(x, [&](index_t j) { return iterate(j); });
  }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }
  template <class Row, class Keep>
  double spread(const Row& x, Keep keep) const {
    return x.sum([&](index_t j, double xj) { return keep(j) ? variance(j) * xj * xj : 0; });
  }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const bool wrong = !(y * margin > 0);
    if (wrong)
      mean.watch([&](auto note) {
        x.each([&](index_t j, double xj) {
          const double before = iterate(j);
          sums[j].label += weight * y * xj;
          sums[j].square += weight * xj * xj;
          note(j, iterate(j) - before);
        });
      });
    mean.step();
    return wrong;
  }
};

THRESHER_LEARNER(SopDiagonal, "Second-order perceptron, diagonal: a, n_selected.", Surest<SopDiagonal>)
THRESHER_LEARNER(SopFull, "Second-order perceptron: a, n_selected.", SurestFull<SopRule>)

}  // namespace thresher
