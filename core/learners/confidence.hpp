#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "../late_mean.hpp"
#include "../loss.hpp"

namespace thresher {

/// The step of a row for weights ~ N(mu, Sigma):   mu += pull y Sigma x,   Sigma^-1 += x x' / inertia.
struct Step {
  double pull, inertia;
  bool finite() const { return std::isfinite(pull) && std::isfinite(inertia); }
  /// A row takes 31 digits of a variance at most: what underflows to 0 could not be learned from again.
  double inertia_above(double v) const { return std::max(inertia, 1e-31 * v); }
  static Step none() { return {0, std::numeric_limits<double>::infinity()}; }
};

/// Learners that keep a mean and a variance of every weight share one form; a rule says which step a row needs. It is made from a
/// source of parameters. Steps that are not finite are skipped.
struct ConfidenceRule {
  ConfidenceRule() = default;
  ConfidenceRule(const ConfidenceRule&) = delete;
  ConfidenceRule& operator=(const ConfidenceRule&) = delete;
  virtual ~ConfidenceRule() = default;
  /// Whether a row of margin m = y <mu, x> needs no step, whatever its variance.
  virtual bool satisfied(double m) const { return m >= 1; }
  /// The step otherwise; v = x' Sigma x is finite and at least 0.
  virtual Step step(double m, double v, double weight) const = 0;
  /// The variance before the first row.
  template <class Source> static double prior(const Source&) { return 1; }
};
using AnyRule = std::shared_ptr<const ConfidenceRule>;

/// A learner with this rule. Rules are asked once per row, so all of them share the loops of the learner.
template <class Learner, class Rule>
struct Ruled : Learner {
  using Loops = Learner;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    return Learner::fields(s, Rule::prior(s));
  }
  template <class Source>
  explicit Ruled(const Source& s) : Learner(s, std::make_shared<Rule>(s)) {}
};

/// One variance for each weight. A diagonal Sigma can follow this update in two ways:
///
///     Sigma -= beta (Sigma x)(Sigma x)',  beta = 1 / (v + inertia)      the same as      Sigma^-1 += x x' / inertia
///
/// `drop` takes the diagonal of the first form, `precision` that of the second. A row costs O(non-zeros).
struct DiagonalLearner : Plain {
  struct Belief { double mean, variance; };
  Belief* belief;
  LateMean late;
  AnyRule rule;
  bool precision;

  template <class Source>
  static std::vector<Field> fields(const Source& s, double prior) {
    std::vector<Field> all{{"coef", "weight", 0.0, "weighted", "variance"},
                           {"variance", "weight", prior, "precision", "", "coef"}};
    LateMean::declare(all, s);
    return all;
  }
  template <class Source>
  DiagonalLearner(const Source& s, AnyRule of)
      : belief(reinterpret_cast<Belief*>(s.pair("coef", "variance"))), late(s), rule(std::move(of)),
        precision(s.flag("precision")) {}

  template <class Row>
  double margin(const Row& x) const {
    return x.sum([&](index_t j, double xj) { return belief[j].mean * xj; });
  }
  double weight(index_t j) const { return late.of(j, belief[j].mean); }
  template <class Row>
  Two both_scores(const Row& x) const {
    return late.scores(x, [&](index_t j) { return belief[j].mean; });
  }
  double variance(index_t j) const { return belief[j].variance; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }
  /// x' Sigma x over the features that `keep` names.
  template <class Row, class Keep>
  double spread(const Row& x, Keep keep) const {
    return x.sum([&](index_t j, double xj) { return keep(j) ? belief[j].variance * xj * xj : 0; });
  }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const bool moved = learn(x, y, y * margin, weight);
    late.step();
    return moved;
  }

 private:
  template <class Row>
  bool learn(const Row& x, double y, double m, double weight) {
    if (rule->satisfied(m)) return false;
    const double v = x.sum([&](index_t j, double xj) { return belief[j].variance * xj * xj; });
    if (!std::isfinite(v)) return false;
    const Step asked = rule->step(m, v, weight);
    if (!asked.finite()) return false;
    const double r = asked.inertia_above(v), beta = 1 / (v + r), step = asked.pull * y;
    late.watch([&](auto note) {
      if (precision) {
        x.each([&](index_t j, double xj) {
          const double sx = belief[j].variance * xj;
          belief[j].mean += step * sx;
          belief[j].variance *= r / (r + sx * xj);
          note(j, step * sx);
        });
      } else {
        x.each([&](index_t j, double xj) {
          const double sx = belief[j].variance * xj;
          belief[j].mean += step * sx;
          belief[j].variance *= beta * (r + std::max(0.0, v - sx * xj));  // 1 - beta sx xj, above 0 at any size
          note(j, step * sx);
        });
      }
    });
    return true;
  }
};

/// y += a x. The arrays do not overlap, which lets the compiler use vectors without a look at their addresses.
inline void add_multiple(double a, const double* __restrict x, double* __restrict y, index_t n) {
#pragma GCC unroll 4
  for (index_t k = 0; k < n; ++k) y[k] += a * x[k];
}

/// The same with the whole covariance: O(non-zeros d + d^2) an update.
struct FullLearner : Plain {
  double *coef, *covariance;
  AnyRule rule;
  index_t n;
  std::vector<double> sx;  // Sigma x

  template <class Source>
  static std::vector<Field> fields(const Source&, double prior) {
    return {{"coef", "weight", 0.0, "weighted", "covariance"}, {"covariance", "weight weight", prior, "precision"}};
  }
  template <class Source>
  FullLearner(const Source& s, AnyRule of)
      : coef(s.array("coef", "weight")), covariance(s.array("covariance", "weight weight")), rule(std::move(of)), n(s.n_weights),
        sx(n) {}

  template <class Row>
  double margin(const Row& x) const {
    return x.dot(coef);
  }
  double weight(index_t j) const { return coef[j]; }
  double variance(index_t j) const { return covariance[j * n + j]; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }
  template <class Row, class Keep>
  double spread(const Row& x, Keep keep) const {
    const double v = x.sum([&](index_t j, double xj) {
      const double* row = covariance + j * n;
      return keep(j) ? xj * x.sum([&](index_t k, double xk) { return keep(k) ? row[k] * xk : 0; }) : 0;
    });
    return std::max(0.0, v);
  }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double m = y * margin;
    if (rule->satisfied(m)) return false;
    multiply(x);
    const double v = std::max(0.0, x.dot(sx.data()));  // a matrix read from a file need not be a covariance
    if (!std::isfinite(v)) return false;
    const Step asked = rule->step(m, v, weight);
    if (!asked.finite()) return false;
    const double beta = 1 / (v + asked.inertia_above(v)), step = asked.pull * y;
    for (index_t j = 0; j < n; ++j) {
      if (sx[j] == 0) continue;
      coef[j] += step * sx[j];
      const double drop = beta * sx[j];
      double* row = covariance + j * n;
      const double floor = row[j] * std::numeric_limits<double>::epsilon();
      add_multiple(-drop, sx.data(), row, n);
      row[j] = std::max(row[j], floor);  // rounding must not make a variance 0
    }
    return true;
  }

 private:
  /// sx = Sigma x, four rows of Sigma at a time: sums stay in registers between them.
  template <class Row>
  void multiply(const Row& x) {
    double* const sum = sx.data();
    double a[4];
    const double* row[4];
    int held = 0;
    std::fill(sum, sum + n, 0.0);
    x.each([&](index_t j, double xj) {
      a[held] = xj;
      row[held] = covariance + j * n;
      if (++held < 4) return;
      held = 0;
      for (index_t k = 0; k < n; ++k)
        sum[k] = (((sum[k] + a[0] * row[0][k]) + a[1] * row[1][k]) + a[2] * row[2][k]) + a[3] * row[3][k];
    });
    for (int i = 0; i < held; ++i) add_multiple(a[i], row[i], sum, n);
  }
};

template <class Rule> using ConfidentDiagonal = Ruled<DiagonalLearner, Rule>;
template <class Rule> using ConfidentFull = Ruled<FullLearner, Rule>;

}  // namespace thresher
