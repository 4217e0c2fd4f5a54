// The mean of all iterates of a learner, weighted by t. It depends less on the latest rows than the last iterate.
#pragma once
#include "learner.hpp"

namespace thresher {

/// Kept beside weights w that change only where a row has features. With mass = 1 + 2 + ... + t,
///
///     mean = w - lag / mass,     where `lag` accumulates  mass * change of w
///
/// so a step costs O(non-zeros). Merging adds up lags and masses. Without `average`, nothing is kept.
/// Lacoste-Julien, Schmidt & Bach (2012).
struct LateMean {
  double *lag, *n_iterates, *mass;

  template <class Source>
  static void declare(std::vector<Field>& all, const Source& s, const char* axes = "weight") {
    if (!s.flag("average")) return;
    all.push_back({"lag", axes, 0.0, "sum"});
    all.push_back({"n_iterates", "", 0.0, "sum"});
    all.push_back({"mass", "", 0.0, "sum"});
  }
  template <class Source>
  explicit LateMean(const Source& s, const char* axes = "weight")
      : lag(s.flag("average") ? s.array("lag", axes) : nullptr), n_iterates(lag ? s.array("n_iterates", "") : nullptr),
        mass(lag ? s.array("mass", "") : nullptr) {}

  bool differs() const { return lag && *mass > 0; }
  double of(index_t j, double w) const { return differs() ? w - lag[j] / *mass : w; }
  /// The scores of a row by the last iterate, with weights iterate(j), and by the mean, in one pass over the row.
  template <class Row, class Iterate>
  Two scores(const Row& x, Iterate iterate) const {
    if (!differs()) {
      const double margin = x.sum([&](index_t j, double xj) { return iterate(j) * xj; });
      return {margin, margin};
    }
    const Two both = x.sum([&](index_t j, double xj) { return Two{iterate(j) * xj, lag[j] * xj}; });
    return {both.first(), both.first() - both.second() / *mass};
  }
  /// Calls learn(note), which must call note(j, change) for every weight that changes. Without a mean, note does nothing.
  template <class Learn>
  void watch(Learn learn) const {
    if (lag) learn([to = lag, lived = *mass](index_t j, double change) { to[j] += lived * change; });
    else learn([](index_t, double) {});
  }
  void step() const {
    if (lag) *mass += ++*n_iterates;
  }
};

/// The same for a learner that keeps only its weights. With a mean, each weight lies beside its lag, and one load reads both.
struct LateWeights {
  double *coef, *n_iterates, *mass;  // without a mean, the last two are null

  template <class Source>
  static void declare(std::vector<Field>& all, const Source& s) {
    all.push_back({"coef", "weight", 0.0, "mean"});
    const std::size_t lag = all.size();
    LateMean::declare(all, s);
    if (lag < all.size()) all[lag].beside = "coef";
  }
  template <class Source>
  explicit LateWeights(const Source& s)
      : coef(s.flag("average") ? s.pair("coef", "lag") : s.array("coef", "weight")),
        n_iterates(s.flag("average") ? s.array("n_iterates", "") : nullptr), mass(n_iterates ? s.array("mass", "") : nullptr) {}

  double iterate(index_t j) const { return mass ? coef[2 * j] : coef[j]; }
  double weight(index_t j) const { return mass && *mass > 0 ? coef[2 * j] - coef[2 * j + 1] / *mass : iterate(j); }
  template <class Row>
  Two scores(const Row& x) const {
    if (!mass) return Two(x.dot(coef));
    const Two both = x.sum([w = coef](index_t j, double xj) { return Two::at(w + 2 * j) * Two(xj); });
    return {both.first(), *mass > 0 ? both.first() - both.second() / *mass : both.first()};
  }
  /// w += step x
  template <class Row>
  void add(const Row& x, double step) const {
    if (!mass) return x.each([step, w = coef](index_t j, double xj) { w[j] += step * xj; });
    x.each([step, lived = *mass, w = coef](index_t j, double xj) {
      const double change = step * xj;
      (Two::at(w + 2 * j) + Two(change, lived * change)).put(w + 2 * j);
    });
  }
  void step() const {
    if (mass) *mass += ++*n_iterates;
  }
};

}  // namespace thresher
