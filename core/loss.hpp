// Losses of a score p = <w, x> + b and a target y: +-1 for classes, any number for regression. Each loss stands once; a
// pass calls it through one virtual call per row, so losses add to the code and never multiply it.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <stdexcept>
#include <string>

namespace thresher {

struct Loss {
  virtual double value(double p, double y) const = 0;
  virtual double slope(double p, double y) const = 0;  // a derivative in p; at a kink, the flat side
  /// sup_p -slope(p, y) p: the optimum of  alpha/2 |w|^2 + mean loss  lies in the ball  alpha |w|^2 <= mean pull.
  virtual double pull(double y) const = 0;
  virtual ~Loss() = default;
};

/// max(0, 1 - m), m = y p
struct Hinge final : Loss {
  double value(double p, double y) const override { return std::max(0.0, 1 - y * p); }
  double slope(double p, double y) const override { return y * p < 1 ? -y : 0; }
  double pull(double) const override { return 1; }
};

/// max(0, 1 - m)^2
struct SquaredHinge final : Loss {
  double value(double p, double y) const override {
    const double u = std::max(0.0, 1 - y * p);
    return u * u;
  }
  double slope(double p, double y) const override { return -2 * y * std::max(0.0, 1 - y * p); }
  double pull(double) const override { return 0.5; }
};

/// 1 - m up to m = 1, tau (m - 1) beyond: correct margins are drawn to 1 as well
struct Pinball final : Loss {
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
  double value(double p, double y) const override {
    const double z = -y * p;  // kept finite for large |z|
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
};

/// -4 m below m = -1, max(0, 1 - m)^2 above: quadratic near the boundary, linear for outliers
struct ModifiedHuber final : Loss {
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
  double value(double p, double y) const override { return 0.5 * (p - y) * (p - y); }
  double slope(double p, double y) const override { return p - y; }
  double pull(double y) const override { return y * y / 4; }
};

/// max(0, |p - y| - epsilon)
struct EpsilonInsensitive final : Loss {
  double epsilon;
  explicit EpsilonInsensitive(double e) : epsilon(e) {}
  double value(double p, double y) const override { return std::max(0.0, std::fabs(p - y) - epsilon); }
  double slope(double p, double y) const override { return p - y > epsilon ? 1 : y - p > epsilon ? -1 : 0; }
  double pull(double y) const override { return std::max(0.0, std::fabs(y) - epsilon); }
};

/// tau (y - p) below the target, (1 - tau)(p - y) above: its minimiser is the tau-quantile
struct Quantile final : Loss {
  double tau;
  explicit Quantile(double t) : tau(t) {}
  double value(double p, double y) const override { return p < y ? tau * (y - p) : (1 - tau) * (p - y); }
  double slope(double p, double y) const override { return p < y ? -tau : p > y ? 1 - tau : 0; }
  double pull(double y) const override { return y > 0 ? tau * y : (tau - 1) * y; }
};

inline std::unique_ptr<Loss> make_loss(const std::string& name, double tau, double epsilon) {
  if (name == "hinge") return std::make_unique<Hinge>();
  if (name == "squared_hinge") return std::make_unique<SquaredHinge>();
  if (name == "pinball") return std::make_unique<Pinball>(tau);
  if (name == "logistic") return std::make_unique<Logistic>();
  if (name == "modified_huber") return std::make_unique<ModifiedHuber>();
  if (name == "squared") return std::make_unique<Squared>();
  if (name == "epsilon_insensitive") return std::make_unique<EpsilonInsensitive>(epsilon);
  if (name == "quantile") return std::make_unique<Quantile>(tau);
  throw std::invalid_argument("unknown loss: " + name);
}

}  // namespace thresher
