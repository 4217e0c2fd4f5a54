// Certificate for a box-constrained kernel problem: a lower bound on its optimum, from the best multiplier of each equality
// constraint.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace thresher {

/// The problem of BoxQP: m blocks of n variables.
struct BoxProblem {
  index_t n, m;
  const double *linear, *lower, *upper, *epsilon, *sign, *total, *coupling;
};

struct Bound {
  double objective = 0, gap = std::numeric_limits<double>::infinity();
  std::vector<double> multiplier;
};

/// One variable, oriented by its sign: x' = s x in [low, high], with cost e |x'| and rate v.
struct Directed {
  double low, high, e, v;

  static Directed of(const BoxProblem& p, index_t a, double rate) {
    const bool ahead = p.sign[a] > 0;
    return {ahead ? p.lower[a] : -p.upper[a], ahead ? p.upper[a] : -p.lower[a], p.epsilon[a], rate};
  }
  /// max_x' z x' - e |x'| over the box
  double conjugate(double z) const {
    const double side = z > 0 ? high : low, inner = std::min(high, std::max(low, 0.0));
    const double least = z * inner - e * std::fabs(inner);
    if (std::isinf(side))  // an unbounded side: 0 up to rounding, or infinite
      return std::fabs(z) - e <= 1e-10 * (1 + std::fabs(v)) ? least : std::numeric_limits<double>::infinity();
    return side == inner ? least : std::max(least, z * side - e * std::fabs(side));
  }
};

/// The multiplier that maximises the bound of a block. The function  sum_a max_x' (-v_a - b) x' - e |x'|  +  b total  is convex
/// and piecewise linear in b; its slope jumps where the best x' of a variable does.
inline double best_multiplier(const BoxProblem& p, index_t c, const double* v) {
  struct Jump {
    double at, height;  // infinite if the box has no lower end, minus infinite if it has no upper one
    bool operator<(const Jump& other) const { return at < other.at; }
  };
  std::vector<Jump> jumps;
  index_t without_end = 0;  // variables without an upper end; before they jump, the slope is minus infinity
  double slope = p.total[c], largest = std::fabs(slope);
  for (index_t a = c * p.n; a < (c + 1) * p.n; ++a) {
    const Directed x = Directed::of(p, a, v[a]);
    const double inner = std::min(x.high, std::max(x.low, 0.0));
    if (x.high > inner) jumps.push_back({-x.v - x.e, std::isinf(x.high) ? -x.high : x.high - inner});
    if (x.low < inner) jumps.push_back({-x.v + x.e, inner - x.low});
    if (std::isinf(x.high)) {
      ++without_end;
      slope -= inner;
    } else {
      slope -= x.high;
      largest = std::max(largest, std::fabs(x.high));
    }
  }
  std::sort(jumps.begin(), jumps.end());
  for (std::size_t k = 0; k < jumps.size(); ++k) {
    if (std::isinf(jumps[k].height) && jumps[k].height > 0) return jumps[k].at;
    if (std::isinf(jumps[k].height)) --without_end;
    else slope += jumps[k].height;
    if (without_end > 0) continue;
    if (std::fabs(slope) <= 1e-12 * largest && k + 1 < jumps.size()) return 0.5 * (jumps[k].at + jumps[k + 1].at);
    if (slope >= 0) return jumps[k].at;
  }
  return jumps.empty() ? 0 : jumps.back().at;
}

/// Objective and gap at x, for scores f and rates v = s (f - p). The gap is a sum over variables, each term the difference
/// between the value of a variable and its best value at that rate, which is never negative.
inline Bound certified(const BoxProblem& p, const double* x, const double* v, const double* f) {
  Bound found;
  found.gap = 0;
  for (index_t c = 0; c < p.m; ++c) {
    const double b = best_multiplier(p, c, v);
    found.multiplier.push_back(b);
    for (index_t a = c * p.n; a < (c + 1) * p.n; ++a) {
      const double z = -v[a] - b, moved = p.sign[a] * x[a], cost = p.epsilon[a] * std::fabs(x[a]);
      found.objective += x[a] * (0.5 * f[a] - p.linear[a]) + cost;
      found.gap += std::max(0.0, Directed::of(p, a, v[a]).conjugate(z) + cost - z * moved);
    }
  }
  return found;
}

}  // namespace thresher
