// Sequential minimal optimisation for kernel problems in boxes: support vector machines and their relatives.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <vector>

#include "box_moves.hpp"
#include "kernel_rows.hpp"
#include "watch.hpp"

namespace thresher {

/// min_x  1/2 sum_jk M_jk <x_j, K x_k> - <p, x> + sum e |x|,   lower <= x <= upper,   <s_j, x_j> = total_j for each block j
///
/// x holds m blocks of n variables, s is +-1. Two variables of one block move at a time, one along s and one against it, so that
/// the equality holds on. With v = s (M (x) K x - p), the rate at which the objective changes is
///
///     up: v + cost_up     down: -v + cost_down     cost: +-e, away from 0 or towards it; infinite at the end of the box
///
/// and x is optimal when in no block min up + min down < 0. The pair is the variable with the least rate up and the one with which
/// an unhindered step would gain most (Fan, Chen and Lin 2005). Variables that no such pair would take are left out for a while.
class BoxQP {
 public:
  BoxQP(KernelRows& k, const double* diagonal, BoxProblem given, double* start)
      : rows(k), d(diagonal), problem(given), n(given.n), m(given.m), moves(problem, start), v(size()), scores(size()),
        active(static_cast<std::size_t>(m)), best(static_cast<std::size_t>(m)) {
    refresh();
    level = worst();  // the gap is looked at before the first step: a start may be good enough
  }

  /// Takes up to n_more steps; true if nothing is left to gain: see `bound`, which is compared with `tol`.
  bool run(index_t n_more, double tol) {
    Watch watch;
    for (index_t t = 0; t < n_more; ++t) {
      watch.tick();
      if (since_shrinking++ >= std::min<index_t>(n, 1000)) shrink();
      if (worst() <= level && settled(tol)) return true;
      step();
      ++n_steps;
    }
    return false;
  }
  /// Computes what is reported about x, wherever the search stopped.
  void conclude() {
    refresh();
    certify();
  }

  Bound bound;
  index_t n_steps = 0;
  std::size_t size() const { return static_cast<std::size_t>(n * m); }
  const double* all_scores() const { return scores.data(); }

 private:
  struct Best {
    double up, down;  // the least rates
    index_t i;        // where the first is, in its block
  };
  template <class V>
  static auto& at(V& values, index_t a) {
    return values[static_cast<std::size_t>(a)];
  }
  static constexpr double never = std::numeric_limits<double>::infinity();

  double worst() const {
    double most = -never;
    for (const Best& b : best) most = std::max(most, -(b.up + b.down));
    return most;
  }

  /// Scores and rates made anew from x; every variable takes part.
  void refresh() {
    std::fill(scores.begin(), scores.end(), 0.0);
    for (index_t r = 0; r < n; ++r) {
      bool any = false;
      for (index_t j = 0; j < m; ++j) any |= moves.x[j * n + r] != 0;
      if (!any) continue;
      const double* const k = rows.row(r);
      for (index_t c = 0; c < m; ++c) {
        double factor = 0;
        for (index_t j = 0; j < m; ++j) factor += problem.coupling[c * m + j] * moves.x[j * n + r];
        double* const f = scores.data() + c * n;
        if (factor != 0)
          for (index_t a = 0; a < n; ++a) f[a] += factor * k[a];
      }
    }
    for (index_t a = 0; a < m * n; ++a) at(v, a) = problem.sign[a] * (at(scores, a) - problem.linear[a]);
    for (index_t c = 0; c < m; ++c) {
      auto& ids = at(active, c);
      ids.resize(static_cast<std::size_t>(n));
      std::iota(ids.begin(), ids.end(), index_t{0});
      look(c, nullptr, nullptr, 0, 0);
    }
    since_shrinking = 0;
    is_fresh = true;
  }

  /// Moves the rates of a block by so much of two rows (or none), and finds the least ones.
  void look(index_t c, const double* first, const double* second, double of_first, double of_second) {
    const auto& ids = at(active, c);
    Best b{never, never, 0};
    double* const rate = v.data() + c * n;
    const double *const s = problem.sign + c * n, *const u = moves.up.data() + c * n, *const l = moves.down.data() + c * n;
    const auto visit = [&](index_t a) {
      if (const double r = rate[a] + u[a]; r < b.up) b.up = r, b.i = a;
      if (const double r = l[a] - rate[a]; r < b.down) b.down = r;
    };
    const auto move = [&](index_t a) { return rate[a] + s[a] * (of_first * first[a] - of_second * second[a]); };
    if (static_cast<index_t>(ids.size()) == n) {
      if (first)
        for (index_t a = 0; a < n; ++a) rate[a] = move(a);
      for (index_t a = 0; a < n; ++a) visit(a);
    } else {
      for (const index_t a : ids) rate[a] = move(a), visit(a);
    }
    at(best, c) = b;
  }

  void step() {
    index_t c = 0;
    for (index_t j = 1; j < m; ++j)
      if (at(best, j).up + at(best, j).down < at(best, c).up + at(best, c).down) c = j;
    const index_t i = at(best, c).i;
    const double* const first = rows.row(i);
    double curvature = 0, rate = 0;
    const index_t k = partner(c, i, first, rate, curvature);
    const double length = moves.travel(c * n + i, c * n + k, rate, curvature);
    moves.price(c * n + i);
    moves.price(c * n + k);
    const double* const second = rows.row(k);
    for (index_t j = 0; j < m; ++j) {
      const double moved = problem.coupling[j * m + c] * length;
      look(j, first, second, problem.sign[c * n + i] * moved, problem.sign[c * n + k] * moved);
    }
    is_fresh = false;
  }

  /// The variable that gains most when it moves down while i moves up.
  index_t partner(index_t c, index_t i, const double* k, double& rate, double& curvature) const {
    const double least = at(best, c).up, weight = problem.coupling[c * m + c];
    const double *const r = v.data() + c * n, *const s = problem.sign + c * n, *const l = moves.down.data() + c * n;
    const double twice = 2 * s[i];
    index_t found = i;
    double gain = 0;
    rate = 0, curvature = 1;
    const auto visit = [&](index_t a) {
      const double slope = least + l[a] - r[a];
      if (!(slope < 0)) return;
      const double sum = d[i] + d[a];
      const double q = std::max(sum - twice * s[a] * k[a], 1e-12 * sum + 1e-300);
      if (slope * slope > gain * q && a != i) gain = slope * slope / q, found = a, rate = slope, curvature = weight * q;
    };
    const auto& ids = at(active, c);
    if (static_cast<index_t>(ids.size()) == n)
      for (index_t a = 0; a < n; ++a) visit(a);
    else
      for (const index_t a : ids) visit(a);
    return found;
  }

  /// Leaves out what no violating pair of its block would take.
  void shrink() {
    since_shrinking = 0;
    for (index_t c = 0; c < m; ++c) {
      const Best& b = at(best, c);
      auto& ids = at(active, c);
      ids.erase(std::remove_if(ids.begin(), ids.end(),
                               [&](index_t a) {
        const std::size_t k = static_cast<std::size_t>(c * n + a);
        return v[k] + moves.up[k] + b.down > 0 && moves.down[k] - v[k] + b.up > 0;
      }),
                ids.end());
    }
  }

  /// Whether the gap is small enough; if not, pairs are held to a smaller violation from now on.
  bool settled(double tol) {
    if (std::any_of(active.begin(), active.end(), [&](const auto& ids) { return static_cast<index_t>(ids.size()) < n; })) {
      refresh();
      if (worst() > level) return false;
    }
    while (true) {
      certify();
      const double wanted = tol * std::max(std::fabs(bound.objective), std::numeric_limits<double>::min());
      if (bound.gap <= wanted || worst() <= floor()) {
        if (is_fresh) return true;
        refresh();  // the results are those of x, not of sums with rounding errors
        continue;
      }
      level = std::min(0.5 * level, level * std::max(0.01, 0.9 * wanted / bound.gap));
      level = std::max(level, floor());
      return false;
    }
  }
  /// Violations below this are rounding errors.
  double floor() const {
    double most = 0;
    for (index_t a = 0; a < m * n; ++a) most = std::max(most, std::fabs(at(scores, a)) + std::fabs(problem.linear[a]));
    return 1e-14 * most;
  }
  void certify() {
    for (index_t a = 0; a < m * n; ++a) at(scores, a) = problem.sign[a] * at(v, a) + problem.linear[a];
    bound = certified(problem, moves.x, v.data(), scores.data());
  }

  KernelRows& rows;
  const double* d;
  BoxProblem problem;
  index_t n, m;
  BoxMoves moves;
  std::vector<double> v, scores;
  std::vector<std::vector<index_t>> active;
  std::vector<Best> best;
  double level = 0;
  index_t since_shrinking = 0;
  bool is_fresh = false;
};

}  // namespace thresher
