#pragma once
#include <algorithm>
#include <array>
#include <cmath>

#include "../joint_of.hpp"
#include "confidence.hpp"

namespace thresher {

/// Several classes in one step. A row of class t is compared with its rival b, the best-scoring of the other classes. This is a
/// two-class row whose features are x for t and -x for b, so every rule for two classes has a joint form with
///
///     m = <mu_t, x> - <mu_b, x>,      v = x' Sigma_t x + x' Sigma_b x.
///
/// The weights of a feature for all classes are adjacent, so one pass over the row scores all classes. Two of them learn. With
/// `apart`, each class learns against the rest instead.
/// Crammer & Singer, JMLR 3 (2003); Crammer, Dredze & Kulesza, EMNLP 2009.
struct JointClasses : Plain {
  static constexpr const char* outputs = "output";  // the axis of the classes
  static constexpr bool codes_are_outputs = true;
  struct Side {
    index_t code;
    double sign;
  };
  double* mean;
  LateMean late;
  index_t n_classes;
  bool apart;

  template <class Source>
  explicit JointClasses(const Source& s)
      : mean(s.array("coef", "weight output")), late(s, "weight output"), n_classes(s.extent("output")), apart(s.flag("apart")) {}

  index_t width() const { return n_classes; }
  void open(const Item&) {}
  template <class Row>
  THRESHER_APART void score(const Row& x, const Item&, double* out) const {
    std::fill(out, out + n_classes, 0.0);
    x.each([&](index_t j, double xj) { add_multiple(xj, mean + j * n_classes, out, n_classes); });
  }
  template <class Row>
  THRESHER_APART void look(const Row& x, const Item& item, double* out) const {
    score(x, item, out);
    judged(x, out, out);
  }
  template <class Row>
  THRESHER_APART void judged(const Row& x, const double* out, double* to) const {
    if (to != out) std::copy(out, out + n_classes, to);
    if (late.differs())
      x.each([&](index_t j, double xj) { add_multiple(-xj / *late.mass, late.lag + j * n_classes, to, n_classes); });
  }
  void weights(index_t j, double* out) const {
    for (index_t k = 0; k < n_classes; ++k) out[k] = late.of(j * n_classes + k, mean[j * n_classes + k]);
  }
  /// With `apart`, the mean over the classes.
  double loss(const double* out, const Item& item) const {
    if (!apart) return Hinge().value(out[item.code] - out[rival(out, n_classes, item.code)], 1);
    double sum = 0;
    for (index_t k = 0; k < n_classes; ++k) sum += Hinge().value(out[k], k == item.code ? 1 : -1);
    return sum / static_cast<double>(n_classes);
  }
  bool wrong(const double* out, const Item& item) const { return std::max_element(out, out + n_classes) - out != item.code; }

 protected:
  /// Calls learn(sides, m) for the classes that learn from a row: the sides that change together, and their margin.
  template <class Learn>
  bool each_step(const Item& item, const double* out, Learn learn) {
    const index_t t = item.code, b = rival(out, n_classes, t);
    if (!apart) return learn(std::array<Side, 2>{Side{t, 1.0}, Side{b, -1.0}}, out[t] - out[b]);
    bool moved = false;
    for (index_t k = 0; k < n_classes; ++k) {
      const double y = k == t ? 1 : -1;
      moved |= learn(std::array<Side, 1>{Side{k, y}}, y * out[k]);
    }
    return moved;
  }
};

/// The joint form of DiagonalLearner, with one variance for each weight of each class.
struct JointLearner : JointClasses {
  double* variance;
  AnyRule rule;
  bool precision;

  template <class Source>
  static std::vector<Field> fields(const Source& s, double prior) {
    std::vector<Field> all{{"coef", "weight output", 0.0, "weighted", "variance"},
                           {"variance", "weight output", prior, "precision"}};
    LateMean::declare(all, s, "weight output");
    return all;
  }
  template <class Source>
  JointLearner(const Source& s, AnyRule of)
      : JointClasses(s), variance(s.array("variance", "weight output")), rule(std::move(of)), precision(s.flag("precision")) {}

  template <class Row>
  bool update(const Row& x, const Item& item, const double* out) {
    const bool moved = each_step(item, out, [&](const auto& sides, double m) { return learn(x, sides, m, item.weight); });
    late.step();
    return moved;
  }

 private:
  template <class Row, class Sides>
  bool learn(const Row& x, const Sides& sides, double m, double weight) {
    if (rule->satisfied(m)) return false;
    const double v = x.sum([&](index_t j, double xj) {
      double both = 0;
      for (const Side& side : sides) both += variance[j * n_classes + side.code];
      return both * xj * xj;
    });
    if (!std::isfinite(v)) return false;
    const Step asked = rule->step(m, v, weight);
    if (!asked.finite()) return false;
    const double r = asked.inertia_above(v), beta = 1 / (v + r), step = asked.pull;
    const bool by_precision = precision;
    const auto move = [=](double& mu, double& sigma, double xj, double pull) {
      const double sx = sigma * xj;
      mu += pull * sx;
      sigma *= by_precision ? r / (r + sx * xj) : beta * (r + std::max(0.0, v - sx * xj));
    };
    late.watch([&](auto note) {
      x.each([&](index_t j, double xj) {
        for (const Side& side : sides) {
          const index_t at = j * n_classes + side.code;
          const double before = mean[at];
          move(mean[at], variance[at], xj, side.sign * step);
          note(at, mean[at] - before);
        }
      });
    });
    return true;
  }
};

template <class Rule> using JointDiagonal = Ruled<JointLearner, Rule>;

}  // namespace thresher
