// The features in use, for a learner that may use at most B of them. A row costs O(non-zeros + B), however many features the data
// have.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "learner.hpp"

namespace thresher {

/// The number of features that a state has room for.
template <class Source>
index_t budget_of(const Source& s) {
  const double n = s.number("n_selecteds");
  if (!(n >= 1 && n <= 0x1p53)) throw std::invalid_argument("a budget must be a number of features of at least 1");
  return static_cast<index_t>(n);
}

/// A feature by its number in the state, which is one more than its column: 0 stands for none.
inline index_t feature_named(double number, index_t n_features) {
  if (!(number >= 1 && number <= static_cast<double>(n_features) && number == std::floor(number)))
    throw std::invalid_argument("selected must name features of the state");
  return static_cast<index_t>(number) - 1;
}

/// All features with non-zero weights, in order. The constant is not among them: it is neither counted nor removed, and otherwise
/// treated like any weight.
///
/// The weight of a feature that was not in use comes from this step alone. Nearly all such weights are smaller than the smallest
/// one in use and are dropped at once; only the others are ranked.
struct Budget {
  struct Weight {
    index_t feature;
    double value;
  };
  static constexpr double unbounded = std::numeric_limits<double>::infinity();
  double* names;  // of the features in use; 0 in free places
  index_t room, constant;
  std::vector<index_t> used, ranked;
  std::vector<Weight> fresh;  // during an update: features of the row that were not in use

  static Field field() { return {"selected", "selected", 0.0, "derived"}; }
  template <class Source>
  explicit Budget(const Source& s) : room(budget_of(s)), constant(s.n_weights - 1) {
    names = s.array("selected", "selected");
    for (index_t k = 0; k < room && names[k] != 0; ++k) {
      used.push_back(feature_named(names[k], constant));
      if (k > 0 && used[k] <= used[k - 1]) throw std::invalid_argument("selected must name features in order, each once");
    }
  }

  void scale(double* coef, double by) const {
    for (const index_t j : used) coef[j] *= by;
    coef[constant] *= by;
  }
  /// w += step x,   w *= min(1, radius / |w|): the projection onto the ball.   Then only the largest weights are kept, of equal
  /// ones the first: the nearest vector with so few non-zeros.
  template <class Row>
  void add(const Row& x, double step, double* coef, double radius = unbounded) {
    fresh.clear();
    x.each([&](index_t j, double xj) {
      const double change = step * xj;
      if (coef[j] != 0) coef[j] += change;
      else if (change != 0) fresh.push_back({j, change});
    }, [&](index_t j, double xj) { coef[j] += step * xj; });
    if (radius < unbounded) {
      const double norm = length(coef);
      if (norm > radius) {
        scale(coef, radius / norm);
        for (Weight& w : fresh) w.value *= radius / norm;
      }
    }
    join(coef);
  }
  /// Rebuilds the list after weights were changed elsewhere.
  void rebuild(double* coef) {
    used.clear();
    for (index_t j = 0; j < constant; ++j)
      if (coef[j] != 0) used.push_back(j);
    cut(coef);
  }

 private:
  static double size(double w) { return w == w ? std::abs(w) : std::numeric_limits<double>::infinity(); }  // NaN: infinite

  /// |w|, including the new weights.
  double length(const double* coef) const {
    const auto root = [&](double unit) {
      double sum = (coef[constant] * unit) * (coef[constant] * unit);
      for (const index_t j : used) sum += (coef[j] * unit) * (coef[j] * unit);
      for (const Weight& w : fresh) sum += (w.value * unit) * (w.value * unit);
      return std::sqrt(sum) / unit;
    };
    const double norm = root(1);
    return norm < unbounded ? norm : root(0x1p-600);  // the squares of huge weights overflow
  }
  /// Adds the new weights that are not smaller than all others.
  void join(double* coef) {
    double least = unbounded;
    for (const index_t j : used) least = std::min(least, size(coef[j]));
    if (static_cast<index_t>(used.size()) < room && least > 0) least = std::numeric_limits<double>::denorm_min();
    fresh.erase(
        std::remove_if(fresh.begin(), fresh.end(), [&](const Weight& w) { return size(w.value) < least || w.value == 0; }),
        fresh.end());
    if (fresh.empty() && least > 0) return;
    ranked.swap(used);
    used.clear();
    auto next = ranked.begin();
    const auto take = [&](index_t j) {
      if (coef[j] != 0) used.push_back(j);
    };
    for (const Weight& w : fresh) {
      for (; next != ranked.end() && *next < w.feature; ++next) take(*next);
      if (next != ranked.end() && *next == w.feature) ++next;  // its weight had become 0
      coef[w.feature] = w.value;
      take(w.feature);
    }
    for (; next != ranked.end(); ++next) take(*next);
    cut(coef);
  }
  void cut(double* coef) {
    if (static_cast<index_t>(used.size()) > room) {
      const auto larger = [&](index_t a, index_t b) {
        const double u = size(coef[a]), v = size(coef[b]);
        return u > v || (u == v && a < b);
      };
      ranked = used;
      std::nth_element(ranked.begin(), ranked.begin() + (room - 1), ranked.end(), larger);
      const index_t last = ranked[room - 1];
      const auto drop = [&](index_t j) { return larger(last, j) ? (coef[j] = 0, true) : false; };
      used.erase(std::remove_if(used.begin(), used.end(), drop), used.end());
    }
    for (std::size_t k = 0; k < used.size(); ++k) names[k] = static_cast<double>(used[k] + 1);
    for (auto k = static_cast<index_t>(used.size()); k < room && names[k] != 0; ++k) names[k] = 0;
  }
};

}  // namespace thresher
