// Proximal stochastic dual coordinate ascent: linear classification with an elastic net, with a duality gap as certificate.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

#include "loss.hpp"
#include "pass.hpp"
#include "shrink.hpp"

namespace thresher {

/// The dual step of a loss, where b = -slope y and its gain is -conjugate(-b y): the best b for a row of margin m, with a
/// proximal term of weight q.
struct DualStep {
  /// argmax_c  gain(c) - c m - q (c - b)^2 / 2
  virtual double best(double b, double m, double q) const = 0;
  virtual ~DualStep() = default;
};

struct HingeStep final : DualStep {  // 0 <= b <= 1
  double best(double b, double m, double q) const override {
    if (q == 0) return m < 1 ? 1 : m > 1 ? 0 : b;
    return std::min(1.0, std::max(0.0, b + (1 - m) / q));
  }
};

struct SquaredHingeStep final : DualStep {  // b >= 0
  double best(double b, double m, double q) const override { return std::max(0.0, (1 - m + q * b) / (q + 0.5)); }
};

struct LogisticStep final : DualStep {  // 0 <= b <= 1
  /// Solves log((1 - c) / c) = m + q (c - b) in the log-odds z of c. The slope of z + m + q (c - b) is 1 or more. Newton steps
  /// stay within a bracket that shrinks.
  double best(double b, double m, double q) const override {
    double low = -m - q * (1 - b), high = -m + q * b;
    double z = std::min(high, std::max(low, b > 0 && b < 1 ? std::log(b / (1 - b)) : -m));
    for (int i = 0; i < 50; ++i) {
      const double c = sigmoid(z), f = z + m + q * (c - b);
      (f > 0 ? high : low) = z;
      double next = z - f / (1 + q * c * (1 - c));
      if (!(next > low && next < high)) next = low + (high - low) / 2;
      if (std::fabs(next - z) <= 1e-15 * (1 + std::fabs(z))) break;
      z = next;
    }
    return sigmoid(z);
  }

 private:
  static double sigmoid(double z) { return z > 0 ? 1 / (1 + std::exp(-z)) : std::exp(z) / (1 + std::exp(z)); }
};

inline std::unique_ptr<DualStep> make_dual_step(const std::string& name) {
  if (name == Hinge::name) return std::make_unique<HingeStep>();
  if (name == SquaredHinge::name) return std::make_unique<SquaredHingeStep>();
  if (name == Logistic::name) return std::make_unique<LogisticStep>();
  throw std::invalid_argument("unknown loss: " + name);
}

/// Minimise over w, with shares s_i of the rows that sum to 1,
///
///     P(w) = sum_i s_i loss(y_i <w, x_i>) + l1 |w|_1 + (l2 / 2) |w|^2          (the constant feature has no l1)
///
/// by its dual, one b_i for each row: with v = (1 / l2) sum_i s_i b_i y_i x_i and w = soft(v, l1 / l2),
///
///     D(b) = sum_i s_i gain(b_i) - (l2 / 2) |w|^2  <=  min P  <=  P(w).
///
/// A step maximises the dual in one b_i, with |w|^2 / 2 replaced by its quadratic upper bound in v.
/// Shalev-Shwartz & Zhang, Math. Prog. 155 (2016), Prox-SDCA option I. With momentum (their accelerated form), v includes a term
/// of the extrapolated point, which the caller must add, and l2 is larger by kappa.
struct Sdca {
  double *b, *v;  // one per row; one per weight, the constant last
  const double* share;
  double l1, l2;
  const DualStep& step;
  const Loss& loss;

  template <class Row>
  double margin(const Row& x) const {
    const double cut = l1 / l2;
    return x.sum([&](index_t j, double xj) { return soft_threshold(v[j], cut) * xj; },
                 [&](index_t j, double xj) { return v[j] * xj; });
  }
  template <class Row>
  void add(const Row& x, double by) {
    x.each([&](index_t j, double xj) { v[j] += by * xj; });
  }

  /// One step for each row, in the lesson's order.
  template <class Rows>
  void epoch(const Rows& rows, double bias, const Lesson& lesson) {
    const Ahead<Rows> ahead(rows);
    Watch watch;
    for (index_t t = 0; t < lesson.n_steps; ++t) {
      watch.tick();
      const index_t i = lesson.order[t];
      ahead.ask(lesson.order, t, lesson.n_steps);
      if (share[i] == 0) continue;
      const auto x = rows.row(i, bias);
      const double y = lesson.target(i), push = share[i] / l2;
      const double next = step.best(b[i], y * margin(x), push * x.square());
      if (next != b[i]) add(x, push * y * (next - b[i]));
      b[i] = next;
    }
  }

  struct Bounds { double primal, dual; };
  /// P for any weights w, and D at b. v is computed afresh, which removes rounding errors of the steps.
  template <class Rows>
  Bounds bounds(const Rows& rows, double bias, const Lesson& lesson, const double* w) {
    const index_t n = rows.n_features;
    std::fill(v, v + n + 1, 0.0);
    for (index_t i = 0; i < rows.n_rows; ++i)
      if (b[i] != 0) add(rows.row(i, bias), share[i] / l2 * lesson.target(i) * b[i]);
    Bounds found{l2 * w[n] * w[n] / 2, -l2 * v[n] * v[n] / 2};
    for (index_t j = 0; j < n; ++j) {
      const double of_b = soft_threshold(v[j], l1 / l2);
      found.primal += l1 * std::fabs(w[j]) + l2 * w[j] * w[j] / 2;
      found.dual -= l2 * of_b * of_b / 2;
    }
    Watch watch;
    for (index_t i = 0; i < rows.n_rows; ++i) {
      watch.tick();
      if (share[i] == 0) continue;
      found.primal += share[i] * loss.value(rows.row(i, bias).dot(w), lesson.target(i));
      found.dual -= share[i] * loss.conjugate(-b[i] * lesson.target(i), lesson.target(i));
    }
    return found;
  }
};

}  // namespace thresher
