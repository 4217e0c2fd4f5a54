#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <utility>

#include "../learner.hpp"
#include "confidence.hpp"

namespace thresher {

/// A learner with variances that learns with all weights, of which only the `n_selected` surest are read. These have the largest
/// |mean| / deviation, with ties to the first. The constant does not count. With 0, all weights are read.
template <class Learner>
struct Surest : Learner {
  index_t n_selected, constant;
  double cut = -1;       // features above it are read
  index_t last_of = -1;  // and those equal to it, up to this one

  template <class Source, class... More>
  explicit Surest(const Source& s, More... more)
      : Learner(s, std::move(more)...), n_selected(static_cast<index_t>(std::clamp(s.number("n_selected"), 0.0, 1e15))),
        constant(s.n_weights - 1) {}

  double weight(index_t j) const { return kept(j) ? Learner::weight(j) : 0; }
  template <class Row, class Keep>
  double spread(const Row& x, Keep keep) const {
    return Learner::spread(x, [&](index_t j) { return keep(j) && kept(j); });
  }
  /// The evidence for a feature: mean^2 / variance.
  double evidence(index_t j) const { return sureness(j) * sureness(j); }
  /// Before weights are read: finds the cut.
  void read() {
    if (n_selected == 0) return;
    std::vector<double> sure;
    for (index_t j = 0; j < constant; ++j)
      if (sureness(j) > 0) sure.push_back(sureness(j));
    if (static_cast<index_t>(sure.size()) <= n_selected) return;
    const auto kth = sure.begin() + (n_selected - 1);
    std::nth_element(sure.begin(), kth, sure.end(), std::greater<double>());
    cut = *kth;
    index_t n_equal = 1 + std::count(sure.begin(), kth, cut);  // how many of the equal ones are read
    for (last_of = -1; n_equal > 0; --n_equal) do
        ++last_of;
      while (sureness(last_of) != cut);
  }

 private:
  double sureness(index_t j) const { return std::fabs(Learner::weight(j)) / std::sqrt(Learner::variance(j)); }
  bool kept(index_t j) const {
    return n_selected == 0 || j == constant || sureness(j) > cut || (sureness(j) == cut && j <= last_of);
  }
};

/// The score of a row for a prediction. Does not test every feature if all of them are in use.
template <class Learner, class Row>
double look(const Surest<Learner>& learner, const Row& x) {
  if (learner.n_selected == 0) return x.sum([&](index_t j, double xj) { return learner.Learner::weight(j) * xj; });
  return x.sum([&](index_t j, double xj) { return learner.weight(j) * xj; });
}

template <class Rule> using SurestDiagonal = Ruled<Surest<DiagonalLearner>, Rule>;
template <class Rule> using SurestFull = Ruled<Surest<FullLearner>, Rule>;

}  // namespace thresher
