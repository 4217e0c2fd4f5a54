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
  /// The inertia, but at least 1e-31 v: a row that divides a variance by more could make it 0, where it would stay.
  double inertia_above(double v) const { return std::max(inertia, 1e-31 * v); }
  static Step none() { return {0, std::numeric_limits<double>::infinity()}; }
};

/// The step of a row with target y and score variance v, as factors for the mean and the variance of each of its features.
struct BeliefStep {
  double pull, inertia, beta, spread;

  BeliefStep(const Step& asked, double y, double v)
      : pull(asked.pull * y), inertia(asked.inertia_above(v)), beta(1 / (v + inertia)), spread(v) {}
  /// The factor of a variance with `drop`: 1 - beta xj sx, in a form that rounding cannot make 0 or negative.
  template <class Number>
  Number drop(Number x, Number sx) const {
    return Number(beta) * (Number(inertia) + larger(Number(0.0), Number(spread) - sx * x));
  }
  /// The factor with `precision`.
  template <class Number>
  Number precision(Number x, Number sx) const {
    return Number(inertia) / (Number(inertia) + sx * x);
  }
};

/// Learners with a mean and a variance for every weight differ only in their rule, which chooses the step for a row. A rule is
/// constructed from a Source. Steps that are not finite are skipped.
struct ConfidenceRule {
  ConfidenceRule() = default;
  ConfidenceRule(const ConfidenceRule&) = delete;
  ConfidenceRule& operator=(const ConfidenceRule&) = delete;
  virtual ~ConfidenceRule() = default;
  /// Whether a row of margin m = y <mu, x> needs no step, whatever its variance.
  virtual bool satisfied(double m) const { return m >= 1; }
  /// The step otherwise; v = x' Sigma x is finite and at least 0.
  virtual Step step(double m, double v, double weight) const = 0;
  /// The initial variance.
  template <class Source> static double prior(const Source&) { return 1; }
};
using AnyRule = std::shared_ptr<const ConfidenceRule>;

/// A learner with this rule. Rules are virtual and called once per row, so all of them share the compiled loops of the learner.
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

/// One variance per weight. The full update of Sigma can be written in two ways:
///
///     Sigma -= beta (Sigma x)(Sigma x)',  beta = 1 / (v + inertia)      the same as      Sigma^-1 += x x' / inertia
///
/// `drop` keeps the diagonal of the first form, `precision` that of the second. A row costs O(non-zeros).
struct DiagonalLearner : Plain {
  using Lanes = DiagonalLearner;  // the part that confidence_lanes.hpp works on
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
  Two both_scores(const Row& x) {
    if (late.differs()) return late.scores(x, [&](index_t j) { return belief[j].mean; });
    const Two sums = x.sum_of_pairs(&belief->mean);
    known_spread = sums.second();
    return Two(sums.first());
  }
  double variance(index_t j) const { return belief[j].variance; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }
  /// x' Sigma x over the features with keep(j).
  template <class Row, class Keep>
  double spread(const Row& x, Keep keep) const {
    return x.sum([&](index_t j, double xj) { return keep(j) ? belief[j].variance * (xj * xj) : 0; });
  }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const bool moved = learn(x, y, y * margin, weight);
    late.step();
    return moved;
  }
  /// The step for a row of margin m and score variance spread(), which is computed only if needed.
  template <class Spread>
  Step step(double m, double weight, Spread spread) const {
    if (rule->satisfied(m)) return Step::none();
    const double v = spread();
    return std::isfinite(v) ? rule->step(m, v, weight) : Step::none();
  }

 private:
  static constexpr double unknown = -1;
  double known_spread = unknown;  // x' Sigma x of the row scored last

  template <class Row>
  bool learn(const Row& x, double y, double m, double weight) {
    double v = std::exchange(known_spread, unknown);
    const Step asked = step(m, weight, [&] { return v == unknown ? v = spread(x, AllFeatures()) : v; });
    if (!asked.finite()) return false;
    const BeliefStep by(asked, y, v);
    late.watch([&](auto note) {
      if (precision) move(x, by.pull, note, [&](auto xj, auto sx) { return by.precision(xj, sx); });
      else move(x, by.pull, note, [&](auto xj, auto sx) { return by.drop(xj, sx); });
    });
    return true;
  }
  /// mean += pull sx and variance *= shrink(xj, sx), where sx = variance xj: two features at a time.
  template <class Row, class Note, class Shrink>
  void move(const Row& x, double pull, Note note, Shrink shrink) {
    Belief* const own = belief;  // the compiler cannot tell that no belief lies where this pointer does
    x.each_two([=](index_t j, index_t k, Two xs) {
      Two one = Two::at(&own[j].mean), other = Two::at(&own[k].mean);
      Two means(one.first(), other.first()), variances(one.second(), other.second());
      const Two sx = variances * xs, change = Two(pull) * sx;
      means += change;
      variances = variances * shrink(xs, sx);
      Two(means.first(), variances.first()).put(&own[j].mean);
      Two(means.second(), variances.second()).put(&own[k].mean);
      note(j, change.first());
      note(k, change.second());
    }, [=](index_t j, double xj) {
      const double sx = own[j].variance * xj, change = pull * sx;
      own[j].mean += change;
      own[j].variance *= shrink(xj, sx);
      note(j, change);
    });
  }
};

/// y += a x. The arrays must not overlap, so the compiler can vectorise without comparing their addresses.
inline void add_multiple(double a, const double* __restrict x, double* __restrict y, index_t n) {
#pragma GCC unroll 4
  for (index_t k = 0; k < n; ++k) y[k] += a * x[k];
}

/// The same with a full covariance matrix. An update costs O(non-zeros d + d^2).
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
    const double v = std::max(0.0, x.dot(sx.data()));  // a matrix read from a file may be indefinite
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
  /// sx = Sigma x, four rows of Sigma at a time, so that each sum is loaded and stored once for the four.
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
