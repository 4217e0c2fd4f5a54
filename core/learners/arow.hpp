#pragma once
#include <algorithm>
#include <cmath>
#include <limits>

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
struct ArowDiagonal : Plain {
  struct Belief { double mean, variance; };
  Belief* belief;
  double r;
  bool precision;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {{"coef", "weight", 0.0, "weighted", "variance"}, {"variance", "weight", 1.0, "precision", "", "coef"}};
  }
  template <class Source>
  explicit ArowDiagonal(const Source& s)
      : belief(reinterpret_cast<Belief*>(s.pair("coef", "variance"))), r(s.number("r")), precision(s.flag("precision")) {}

  template <class Row>
  double margin(const Row& x) const {
    return x.sum([&](index_t j, double xj) { return belief[j].mean * xj; });
  }
  double weight(index_t j) const { return belief[j].mean; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double l = loss(margin, y);
    if (l == 0) return false;
    const double spread = x.sum([&](index_t j, double xj) { return belief[j].variance * xj * xj; });  // x' Sigma x
    const double inertia = r / weight;
    if (!std::isfinite(inertia)) return false;  // a weight as good as 0
    const double beta = 1 / (spread + inertia), step = l * beta * y;
    if (precision) {
      x.each([&](index_t j, double xj) {
        const double sx = belief[j].variance * xj;
        belief[j].mean += step * sx;
        belief[j].variance *= inertia / (inertia + sx * xj);
      });
    } else {
      x.each([&](index_t j, double xj) {
        const double sx = belief[j].variance * xj;
        belief[j].mean += step * sx;
        belief[j].variance *= beta * (inertia + std::max(0.0, spread - sx * xj));  // 1 - beta sx xj, above 0 at any size
      });
    }
    return true;
  }
};

/// The same with the whole covariance: O(non-zeros d + d^2) an update.
struct ArowFull : Plain {
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
    const double beta = 1 / (x.dot(sx.data()) + r / weight), step = l * beta * y;
    for (index_t j = 0; j < n; ++j) {
      if (sx[j] == 0) continue;
      coef[j] += step * sx[j];
      const double pull = beta * sx[j];
      double* row = covariance + j * n;
      const double floor = row[j] * std::numeric_limits<double>::epsilon();
      for (index_t k = 0; k < n; ++k) row[k] -= pull * sx[k];
      row[j] = std::max(row[j], floor);  // rounding must not end all doubt
    }
    return true;
  }
};

}  // namespace thresher
