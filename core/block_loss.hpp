// Smooth losses of all rows of a task at once: values, slopes and curvatures in one sweep, the dual's value, the best constant.
#pragma once
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <type_traits>

#include "loss.hpp"
#include "rows.hpp"

namespace thresher {

/// Targets of a task, and the weights of its rows (shares), which sum to 1 unless the caller chooses otherwise.
struct Targets {
  const double *y, *share;
  index_t n;
};

struct LossSweep {
  bool quadratic;    // the curvature is constant
  double curvature;  // an upper bound
  /// sum_i share_i loss(p_i, y_i); slopes and curvatures in p go to the arrays.
  virtual double evaluate(const Targets& of, const double* p, double* slope, double* bend) const = 0;
  /// sum_i share_i conjugate(scale slope_i)
  virtual double conjugate(const Targets& of, const double* slope, double scale) const = 0;
  /// sum_i share_i slope(p_i + c), and its derivative in c
  virtual double pull(const Targets& of, const double* p, double c, double& steep) const = 0;
  virtual ~LossSweep() = default;

  /// The c with  sum_i share_i slope(p_i + c) = 0, by Newton's method, with bisection where a step leaves the bracket.
  double best_constant(const Targets& of, const double* p) const {
    constexpr double inf = std::numeric_limits<double>::infinity();
    double low = -inf, high = inf, c = 0, far = 1;
    for (int k = 0; k < 200; ++k) {
      double steep = 0;
      const double f = pull(of, p, c, steep);
      if (f == 0) break;
      (f < 0 ? low : high) = c;
      double next = c - f / steep;
      if (!(next > low && next < high)) {
        far *= 2;
        next = low == -inf ? high - far : high == inf ? low + far : low + (high - low) / 2;
      }
      if (next == c || std::fabs(next - c) <= 1e-16 * std::fabs(c) || next == low || next == high) break;
      c = next;
    }
    return c;
  }
};

template <class L, class = void> struct HasBend : std::false_type {};
template <class L> struct HasBend<L, std::void_t<decltype(&L::bend)>> : std::true_type {};

template <class L>
struct LossSweepOf final : LossSweep {
  L loss;
  explicit LossSweepOf(const L& of) : loss(of) {
    quadratic = std::is_same_v<L, Squared>;
    curvature = L::curvature;
  }
  double evaluate(const Targets& of, const double* p, double* slope, double* bend) const override {
    double sum = 0;
    if constexpr (std::is_same_v<L, Logistic>) {  // one exponential per row, one logarithm for many rows of equal share
      double product = 1, share = of.n ? of.share[0] : 0;
      for (index_t i = 0; i < of.n; ++i) {
        const double m = of.y[i] * p[i], e = std::exp(-std::fabs(m)), part = 1 / (1 + e);
        slope[i] = -of.y[i] * (m > 0 ? e * part : part);
        bend[i] = e * part * part;
        if (m < 0) sum -= of.share[i] * m;
        if (product > 1e280 || of.share[i] != share) {
          sum += share * std::log(product);
          product = 1, share = of.share[i];
        }
        product *= 1 + e;
      }
      return sum + share * std::log(product);
    } else {
      for (index_t i = 0; i < of.n; ++i) {
        slope[i] = loss.slope(p[i], of.y[i]);
        bend[i] = loss.bend(slope[i]);
        sum += of.share[i] * loss.value(p[i], of.y[i]);
      }
      return sum;
    }
  }
  double conjugate(const Targets& of, const double* slope, double scale) const override {
    double sum = 0;
    for (index_t i = 0; i < of.n; ++i) sum += of.share[i] * loss.conjugate(scale * slope[i], of.y[i]);
    return sum;
  }
  double pull(const Targets& of, const double* p, double c, double& steep) const override {
    double sum = 0;
    for (index_t i = 0; i < of.n; ++i) {
      const double slope = loss.slope(p[i] + c, of.y[i]);
      sum += of.share[i] * slope;
      steep += of.share[i] * loss.bend(slope);
    }
    return sum;
  }
};

inline std::unique_ptr<LossSweep> make_loss_sweep(const std::string& name, double epsilon) {
  std::unique_ptr<LossSweep> made;
  Losses::with(name, 0, epsilon, [&](auto loss) {
    using L = decltype(loss);
    if constexpr (HasBend<L>::value) made = std::make_unique<LossSweepOf<L>>(loss);
  });
  if (!made) throw std::invalid_argument("the solver needs the curvature of a loss, and has none for " + name);
  return made;
}

}  // namespace thresher
