// The cost of a mistake on a positive row, if one on a negative row costs 1.
#pragma once
#include <vector>

#include "learner.hpp"

namespace thresher {

/// rho: a given number, or the ratio (1 + negatives) / (1 + positives) among the rows counted so far.
struct Costs {
  double *n_positives, *n_negatives;
  double ratio;  // 0: estimated

  static void declare(std::vector<Field>& fields) {
    fields.push_back({"n_positives", "", 0.0, "sum"});
    fields.push_back({"n_negatives", "", 0.0, "sum"});
  }
  template <class Source>
  explicit Costs(const Source& s)
      : n_positives(s.array("n_positives", "")), n_negatives(s.array("n_negatives", "")), ratio(s.number("cost_ratio")) {}

  double of(double y) const { return !(y > 0) ? 1 : ratio != 0 ? ratio : (1 + *n_negatives) / (1 + *n_positives); }
  void count(double y) { ++*(y > 0 ? n_positives : n_negatives); }
};

}  // namespace thresher
