// Positions of the variables of a box-constrained kernel problem, and the moves that they may make.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "box_dual.hpp"

namespace thresher {

/// x, and the cost of moving a variable apart from the smooth part of the objective: e away from 0, -e towards 0, and infinite at
/// the end of the box.
struct BoxMoves {
  const BoxProblem& problem;
  double* x;

  BoxMoves(const BoxProblem& given, double* start) : problem(given), x(start) {
    for (index_t c = 0; c < given.m; ++c) mend(c);
  }

  /// Moves variable a up and b down, past kinks at 0, as long as the objective decreases at this rate and curvature. Returns the
  /// length.
  double travel(index_t a, index_t b, double rate, double curvature) {
    double length = 0;
    while (rate < 0) {
      const double way_a = problem.sign[a], way_b = -problem.sign[b];
      const Reach far_a = reach(a, way_a), far_b = reach(b, way_b);
      const double wanted = -rate / curvature, t = std::min(wanted, std::min(far_a.length, far_b.length));
      if (!(t < 1e200)) throw std::invalid_argument("the objective has no least value inside the boxes");
      x[a] = t == far_a.length ? far_a.end : x[a] + way_a * t;
      x[b] = t == far_b.length ? far_b.end : x[b] + way_b * t;
      length += t;
      rate += curvature * t;
      if (t == wanted || (t == far_a.length && !far_a.is_kink) || (t == far_b.length && !far_b.is_kink)) break;
      if (t == far_a.length) rate += 2 * problem.epsilon[a];
      if (t == far_b.length) rate += 2 * problem.epsilon[b];
    }
    return length;
  }

  double cost(index_t a, double way) const {
    if (way > 0 ? x[a] >= problem.upper[a] : x[a] <= problem.lower[a]) return std::numeric_limits<double>::infinity();
    return x[a] * way >= 0 ? problem.epsilon[a] : -problem.epsilon[a];
  }

 private:
  struct Reach {
    double length, end;
    bool is_kink;
  };
  Reach reach(index_t a, double way) const {
    const double end = way > 0 ? problem.upper[a] : problem.lower[a], length = (end - x[a]) * way;
    if (problem.epsilon[a] > 0 && x[a] * way < 0 && -x[a] * way < length) return {-x[a] * way, 0, true};
    return {length, end, false};
  }

  /// Projects x into the box and restores the equality constraint.
  void mend(index_t c) {
    double missing = problem.total[c];
    for (index_t a = c * problem.n; a < (c + 1) * problem.n; ++a) {
      x[a] = std::min(problem.upper[a], std::max(problem.lower[a], x[a]));
      missing -= problem.sign[a] * x[a];
    }
    for (index_t a = c * problem.n; a < (c + 1) * problem.n && missing != 0; ++a) {
      const double wanted = x[a] + problem.sign[a] * missing;
      const double next = std::min(problem.upper[a], std::max(problem.lower[a], wanted));
      missing = next == wanted ? 0 : missing - problem.sign[a] * (next - x[a]);
      x[a] = next;
    }
    if (std::fabs(missing) > 1e-9 * (1 + std::fabs(problem.total[c])))
      throw std::invalid_argument("no x inside the boxes meets the equality");
  }
};

}  // namespace thresher
