// Losses of a score p = <w, x> + b and a target y: +-1 for classes, any number for regression. Each loss is written once, and a
// pass calls it through one virtual call per row, so that losses do not multiply the size of the code.
//
// A new loss is one struct and one line in the table `Losses` at the end. Everything else reads that table: the rules of
// parameters, the docstrings, the command line, the wizard, the batch solvers and the tests.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>

namespace thresher {

struct Loss {
  virtual double value(double p, double y) const = 0;
  virtual double slope(double p, double y) const = 0;  // a derivative in p; at a kink, the flat side
  /// sup_p -slope(p, y) p: the optimum of  alpha/2 |w|^2 + mean loss  lies in the ball  alpha |w|^2 <= mean pull.
  virtual double pull(double y) const = 0;
  /// sup_p u p - value(p, y), for slopes u that the loss can have. Optional; solvers need it for the duality gap.
  virtual double conjugate(double, double) const { return std::numeric_limits<double>::quiet_NaN(); }
  // The batch solvers offer smooth losses that have a conjugate and also double bend(double u) const, the curvature where the
  // slope is u.
  virtual ~Loss() = default;

  double damping = 0;  // curvature, where steps must not overshoot
  /// The weighted slope of a step that moves the score by reach() per unit. With damping, the step is implicit for the squared
  /// loss (its slope is taken at the end of the step), and for every smooth loss it is bounded by 1 / curvature: no score moves
  /// past its target.   Karampatziakis & Langford, UAI 2011.
  template <class Reach>
  double step(double p, double y, double weight, Reach reach) const {
    const double plain = weight * slope(p, y);
    return damping == 0 || plain == 0 ? plain : plain / (1 + damping * weight * reach());
  }

  // What each loss declares, beside its `name` and a line `about` it for the wizard. These are the defaults.
  static constexpr const char* alias = "";  // another accepted name, from scikit-learn
  static constexpr bool for_classes = false, for_values = false;
  static constexpr bool bounded = true;                                         // slopes are bounded, so weights cannot overflow
  static constexpr double curvature = std::numeric_limits<double>::infinity();  // bound on the second derivative in p
  static constexpr int degree = 0;                    // for regression: c times the scores, targets and epsilon cost c^degree
  static constexpr bool mean_is_best = false;         // for regression: the best constant prediction is the mean
  static constexpr const char* parameter = "";        // what the constructor takes: "tau" or "epsilon"
  static constexpr const char* parameter_about = "";  // completes the sentence "With loss="...", ..."
};

/// max(0, 1 - m), m = y p
struct Hinge final : Loss {
  static constexpr auto name = "hinge", about = "the support vector machine: right by a margin is enough";
  static constexpr bool for_classes = true;
  double value(double p, double y) const override { return std::max(0.0, 1 - y * p); }
  double slope(double p, double y) const override { return y * p < 1 ? -y : 0; }
  double pull(double) const override { return 1; }
  double conjugate(double u, double y) const override { return u * y; }
};

/// max(0, 1 - m)^2
struct SquaredHinge final : Loss {
  static constexpr auto name = "squared_hinge", about = "like hinge, but large mistakes count much more";
  static constexpr bool for_classes = true, bounded = false;
  static constexpr double curvature = 2;
  double value(double p, double y) const override {
    const double u = std::max(0.0, 1 - y * p);
    return u * u;
  }
  double slope(double p, double y) const override { return -2 * y * std::max(0.0, 1 - y * p); }
  double pull(double) const override { return 0.5; }
  double conjugate(double u, double y) const override {
    const double a = -u * y;
    return a * a / 4 - a;
  }
  double bend(double u) const { return u != 0 ? 2 : 0; }
};

/// 1 - m up to m = 1, tau (m - 1) beyond: margins above 1 have a loss, too
struct Pinball final : Loss {
  static constexpr auto name = "pinball", about = "like hinge, and less disturbed by noise around the boundary";
  static constexpr auto parameter = "tau", parameter_about = "how much margins above 1 cost (0 is the hinge loss)";
  static constexpr bool for_classes = true;
  double tau;
  explicit Pinball(double t) : tau(t) {}
  double value(double p, double y) const override {
    const double u = 1 - y * p;
    return u >= 0 ? u : -tau * u;
  }
  double slope(double p, double y) const override {
    const double u = 1 - y * p;
    return u > 0 ? -y : u < 0 ? tau * y : 0;
  }
  double pull(double) const override { return 1; }
};

/// log(1 + exp(-m))
struct Logistic final : Loss {
  static constexpr auto name = "logistic", about = "logistic regression: how likely is each class?";
  static constexpr auto alias = "log_loss";
  static constexpr bool for_classes = true;
  static constexpr double curvature = 0.25;
  double value(double p, double y) const override {
    const double z = -y * p;  // finite for large |z|
    return z > 0 ? z + std::log1p(std::exp(-z)) : std::log1p(std::exp(z));
  }
  double slope(double p, double y) const override {
    const double m = y * p;
    if (m > 0) {
      const double e = std::exp(-m);
      return -y * e / (1 + e);
    }
    return -y / (1 + std::exp(m));
  }
  double pull(double) const override { return 0.27846454276107374; }  // max of m / (1 + exp(m))
  double conjugate(double u, double y) const override { return part(-u * y) + part(1 + u * y); }
  double bend(double u) const { return std::fabs(u) * (1 - std::fabs(u)); }

 private:
  static double part(double a) { return a > 0 ? a * std::log(a) : 0; }
};

/// -4 m below m = -1, max(0, 1 - m)^2 above: quadratic near the boundary, linear for outliers
struct ModifiedHuber final : Loss {
  static constexpr auto name = "modified_huber", about = "a softer squared hinge: single wild rows count less";
  static constexpr bool for_classes = true;
  static constexpr double curvature = 2;
  double value(double p, double y) const override {
    const double m = y * p, u = std::max(0.0, 1 - m);
    return m < -1 ? -4 * m : u * u;
  }
  double slope(double p, double y) const override {
    const double m = y * p;
    return m < -1 ? -4 * y : -2 * y * std::max(0.0, 1 - m);
  }
  double pull(double) const override { return 0.5; }
};

/// (p - y)^2 / 2
struct Squared final : Loss {
  static constexpr auto name = "squared", about = "least squares: distances from the target, squared";
  static constexpr auto alias = "squared_error";
  static constexpr bool for_classes = true, for_values = true, bounded = false, mean_is_best = true;
  static constexpr double curvature = 1;
  static constexpr int degree = 2;
  double value(double p, double y) const override { return 0.5 * (p - y) * (p - y); }
  double slope(double p, double y) const override { return p - y; }
  double pull(double y) const override { return y * y / 4; }
  double conjugate(double u, double y) const override { return u * (0.5 * u + y); }
  double bend(double) const { return 1; }
};

/// max(0, |p - y| - epsilon)
struct EpsilonInsensitive final : Loss {
  static constexpr auto name = "epsilon_insensitive", about = "small errors are free, others count by their size";
  static constexpr auto parameter = "epsilon", parameter_about = "errors up to this size cost nothing";
  static constexpr bool for_values = true;
  static constexpr int degree = 1;
  double epsilon;
  explicit EpsilonInsensitive(double e) : epsilon(e) {}
  double value(double p, double y) const override { return std::max(0.0, std::fabs(p - y) - epsilon); }
  double slope(double p, double y) const override { return p - y > epsilon ? 1 : y - p > epsilon ? -1 : 0; }
  double pull(double y) const override { return std::max(0.0, std::fabs(y) - epsilon); }
};

/// tau (y - p) below the target, (1 - tau)(p - y) above: its minimiser is the tau-quantile
struct Quantile final : Loss {
  static constexpr auto name = "quantile", about = "estimates the median instead of the mean";
  static constexpr auto parameter = "tau", parameter_about = "the quantile to estimate";
  static constexpr bool for_values = true;
  static constexpr int degree = 1;
  double tau;
  explicit Quantile(double t) : tau(t) {}
  double value(double p, double y) const override { return p < y ? tau * (y - p) : (1 - tau) * (p - y); }
  double slope(double p, double y) const override { return p < y ? -tau : p > y ? 1 - tau : 0; }
  double pull(double y) const override { return y > 0 ? tau * y : (tau - 1) * y; }
};

/// (p - y)^2 / 2 up to an error of epsilon, linear beyond: least squares that is robust to outliers in the target
struct Huber final : Loss {
  static constexpr auto name = "huber", about = "least squares, but large errors count by their size only";
  static constexpr auto parameter = "epsilon", parameter_about = "larger errors than this count by their size, not its square";
  static constexpr bool for_values = true;
  static constexpr double curvature = 1;
  static constexpr int degree = 2;
  double epsilon;
  explicit Huber(double e) : epsilon(e) {}
  double value(double p, double y) const override {
    const double u = std::fabs(p - y);
    return u <= epsilon ? 0.5 * u * u : epsilon * (u - 0.5 * epsilon);
  }
  double slope(double p, double y) const override { return std::max(-epsilon, std::min(epsilon, p - y)); }
  double pull(double y) const override { return std::fabs(y) <= 2 * epsilon ? y * y / 4 : epsilon * (std::fabs(y) - epsilon); }
  double conjugate(double u, double y) const override { return u * (0.5 * u + y); }
  double bend(double u) const { return std::fabs(u) < epsilon ? 1 : 0; }
};

/// The losses by name.
template <class... L>
struct LossTable {
  static_assert(((L::for_classes || L::for_values) && ...), "a loss must be for classes or for values");

  /// Calls act(loss) with the loss of this name.
  template <class Act>
  static void with(const std::string& name, double tau, double epsilon, Act act) {
    const bool known = ((name == L::name && (act(make<L>(tau, epsilon)), true)) || ...);
    if (!known) throw std::invalid_argument("unknown loss: " + name);
  }
  /// Calls act(pointer to the type) for every loss.
  template <class Act>
  static void each(Act act) {
    (act(static_cast<const L*>(nullptr)), ...);
  }

 private:
  template <class One>
  static One make([[maybe_unused]] double tau, [[maybe_unused]] double epsilon) {
    constexpr std::string_view parameter = One::parameter;
    static_assert(parameter == "" || parameter == "tau" || parameter == "epsilon", "learners hand over tau and epsilon only");
    if constexpr (parameter == "tau") return One(tau);
    else if constexpr (parameter == "epsilon") return One(epsilon);
    else return One();
  }
};

// clang-format off
using Losses = LossTable<
    Hinge,
    SquaredHinge,
    Pinball,
    Logistic,
    ModifiedHuber,
    Squared,
    EpsilonInsensitive,
    Quantile,
    Huber>;
// clang-format on

inline std::unique_ptr<Loss> make_loss(const std::string& name, double tau, double epsilon) {
  std::unique_ptr<Loss> made;
  Losses::with(name, tau, epsilon, [&](auto loss) { made = std::make_unique<decltype(loss)>(loss); });
  return made;
}

}  // namespace thresher
