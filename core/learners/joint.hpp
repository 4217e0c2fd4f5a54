#pragma once
#include <algorithm>
#include <cmath>

#include "../matrix_pass.hpp"
#include "confidence.hpp"

namespace thresher {

/// Several classes in one step: a row of class t is compared with its rival b, the best of the other classes. It is a row of two
/// classes whose features are x in the place of t and -x in the place of b, so every rule for two classes has a joint form with
///
///     m = <mu_t, x> - <mu_b, x>,      v = x' Sigma_t x + x' Sigma_b x.
///
/// Weights are laid out by feature and class: one read of the row scores all classes, and two of them learn.
/// Crammer & Singer, JMLR 3 (2003); Crammer, Dredze & Kulesza, EMNLP 2009.
struct JointClasses : Plain {
  static constexpr const char* outputs = "output";  // the axis of the classes
  static constexpr bool codes_are_outputs = true;
  double* mean;
  index_t n_classes;

  template <class Source>
  explicit JointClasses(const Source& s) : mean(s.array("coef", "weight output")), n_classes(s.extent("output")) {}

  index_t width() const { return n_classes; }
  void open(const Item&) {}
  template <class Row>
  void score(const Row& x, const Item&, double* out) const {
    std::fill(out, out + n_classes, 0.0);
    x.each([&](index_t j, double xj) { add_multiple(xj, mean + j * n_classes, out, n_classes); });
  }
  template <class Row>
  void look(const Row& x, const Item& item, double* out) const {
    score(x, item, out);
  }
  void weights(index_t j, double* out) const { std::copy_n(mean + j * n_classes, n_classes, out); }
  double loss(const double* out, const Item& item) const { return Hinge().value(lead(out, item.code), 1); }
  bool wrong(const double* out, const Item& item) const { return std::max_element(out, out + n_classes) - out != item.code; }

 protected:
  /// The best class but one.
  index_t rival(const double* out, index_t code) const {
    index_t best = code == 0 ? 1 : 0;
    for (index_t k = best + 1; k < n_classes; ++k)
      if (k != code && out[k] > out[best]) best = k;
    return best;
  }
  double lead(const double* out, index_t code) const { return out[code] - out[rival(out, code)]; }
};

/// The joint form of a rule of ConfidentDiagonal, with one variance for each weight of each class.
template <class Rule>
struct JointDiagonal : JointClasses {
  double* variance;
  Rule rule;
  bool precision;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    return {{"coef", "weight output", 0.0, "weighted", "variance"}, {"variance", "weight output", Rule::prior(s), "precision"}};
  }
  template <class Source>
  explicit JointDiagonal(const Source& s)
      : JointClasses(s), variance(s.array("variance", "weight output")), rule(s), precision(s.flag("precision")) {}

  template <class Row>
  bool update(const Row& x, const Item& item, const double* out) {
    const index_t t = item.code, b = rival(out, t), stride = n_classes;
    const double m = out[t] - out[b];
    if (rule.satisfied(m)) return false;
    const double v = x.sum([&](index_t j, double xj) { return (variance[j * stride + t] + variance[j * stride + b]) * xj * xj; });
    if (!std::isfinite(v)) return false;
    const Step asked = rule.step(m, v, item.weight);
    if (!asked.finite()) return false;
    const double r = asked.inertia_above(v), beta = 1 / (v + r), step = asked.pull;
    const auto move = [=](double& mu, double& sigma, double xj, double pull) {
      const double sx = sigma * xj;
      mu += pull * sx;
      sigma *= precision ? r / (r + sx * xj) : beta * (r + std::max(0.0, v - sx * xj));
    };
    x.each([&](index_t j, double xj) {
      move(mean[j * stride + t], variance[j * stride + t], xj, step);
      move(mean[j * stride + b], variance[j * stride + b], xj, -step);
    });
    return true;
  }
};

}  // namespace thresher
