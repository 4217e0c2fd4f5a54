#pragma once
#include "../learner.hpp"
#include "../loss.hpp"

namespace thresher {

/// Adaptive regularisation of weights. On a row with hinge loss l = max(0, 1 - y <mu, x>) > 0:
///
///     beta   = 1 / (x' Sigma x + r)
///     mu    += l beta y Sigma x
///     Sigma -= beta (Sigma x)(Sigma x)'      the same as   Sigma^-1 += x x' / r
///
/// Kept to a diagonal there are two rules: `drop` takes the diagonal of the first form, `precision` that of the second.
/// A row weight divides r.   Crammer, Kulesza & Dredze, NIPS 2009, Fig. 1.
struct ArowDiagonal {
  double *coef, *variance;
  double r;
  bool precision;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {{"coef", "weight", 0.0, "weighted", "variance"}, {"variance", "weight", 1.0, "precision"}};
  }
  template <class Source>
  explicit ArowDiagonal(const Source& s)
      : coef(s.array("coef", "weight")), variance(s.array("variance", "weight")), r(s.number("r")),
        precision(s.flag("precision")) {}

  template <class Row>
  double margin(const Row& x) const { return x.dot(coef); }
  double weight(index_t j) const { return coef[j]; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double l = loss(margin, y);
    if (l == 0) return false;
    const double spread = x.sum([&](index_t j, double xj) { return variance[j] * xj * xj; });  // x' Sigma x
    const double beta = weight / (weight * spread + r), step = l * beta * y;
    if (precision) {
      const double gain = weight / r;
      x.each([&](index_t j, double xj) {
        const double sx = variance[j] * xj;
        coef[j] += step * sx;
        variance[j] /= 1 + gain * sx * xj;
      });
    } else {
      x.each([&](index_t j, double xj) {
        const double sx = variance[j] * xj;
        coef[j] += step * sx;
        variance[j] -= beta * sx * sx;
      });
    }
    return true;
  }
};

/// The same with the whole covariance: O(non-zeros d + d^2) an update.
struct ArowFull {
  double *coef, *covariance;
  double r;
  index_t n;
  std::vector<double> sx;  // Sigma x

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {{"coef", "weight", 0.0, "weighted", "covariance"}, {"covariance", "weight weight", 1.0, "precision"}};
  }
  template <class Source>
  explicit ArowFull(const Source& s)
      : coef(s.array("coef", "weight")), covariance(s.array("covariance", "weight weight")), r(s.number("r")),
        n(s.n_weights), sx(n) {}

  template <class Row>
  double margin(const Row& x) const { return x.dot(coef); }
  double weight(index_t j) const { return coef[j]; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double l = loss(margin, y);
    if (l == 0) return false;
    for (double& v : sx) v = 0;
    x.each([&](index_t j, double xj) {
      const double* row = covariance + j * n;
      for (index_t k = 0; k < n; ++k) sx[k] += xj * row[k];
    });
    const double beta = weight / (weight * x.dot(sx.data()) + r), step = l * beta * y;
    for (index_t j = 0; j < n; ++j) {
      coef[j] += step * sx[j];
      const double pull = beta * sx[j];
      double* row = covariance + j * n;
      if (pull != 0)
        for (index_t k = 0; k < n; ++k) row[k] -= pull * sx[k];
    }
    return true;
  }
};

}  // namespace thresher
