// Outputs or candidates of one learner that learn from the same rows.
#pragma once
#include <deque>
#include <memory>
#include <vector>

#include "bind.hpp"

namespace thresher {

/// Their arrays are looked up once, for all passes. In lanes, the arrays are out of date until `close`.
class Several {
 public:
  /// `n_to_come`: the rows that they will learn from in all passes, by which it is decided whether lanes pay.
  Several(Maker<AnySingle> make, const nb::list& states, const nb::list& params, index_t n_weights, index_t n_to_come);
  Several(Several&&) noexcept = default;
  Several(const Several&) = delete;

  /// One pass of learners which[0], which[1], ... Returns for each the step at which it diverged, or -1.
  std::vector<index_t> run(const Rows& rows, double bias, const In<double>& y, const In<double>& positive,
                           const std::optional<In<double>>& weight, const std::optional<In<index_t>>& order,
                           const In<index_t>& which, const Matrix& margins);
  /// Puts the weights back where the arrays of the states are.
  void close() { lanes_.reset(); }

 private:
  bool pays(const Rows& rows) const;

  std::deque<PySource> sources_;
  nb::list held_;  // the arrays and objects that the learners point to
  std::vector<std::unique_ptr<AnySingle>> learners_;
  std::vector<Tally*> tallies_;
  index_t n_weights_, n_to_come_;
  std::unique_ptr<AnyLanes> lanes_;
};

}  // namespace thresher
