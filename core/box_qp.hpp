// Sequential minimal optimisation for box-constrained kernel problems: support vector machines and related models.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "box_moves.hpp"
#include "box_sides.hpp"
#include "kernel_rows.hpp"
#include "watch.hpp"

namespace thresher {

/// min_x  1/2 sum_jk M_jk <x_j, K x_k> - <p, x> + sum e |x|,   lower <= x <= upper,   <s_j, x_j> = total_j for each block j
///
/// x holds m blocks of n variables, s is +-1. A step moves two variables of one block, one along s and one against it, which
/// keeps the equality. With v = s (M (x) K x - p), the rate at which the objective changes is
///
///     up: v + cost_up     down: -v + cost_down     cost: +-e, away from 0 or towards it; infinite at the end of the box
///
/// and x is optimal if min up + min down >= 0 in every block. A step takes the variable with the least rate up, and the partner
/// with which an unconstrained step gains most (Fan, Chen and Lin 2005). Shrinking leaves out variables that no violating pair
/// would contain, and compacts the data of the others.
///
/// While variables are left out, steps read rows in single precision. Rates are recomputed from x and K before anything is
/// reported. Single precision therefore limits the progress of a round of steps, not the accuracy of the result.
class BoxQP {
 public:
  BoxQP(KernelRows& k, std::size_t room, const double* diagonal, BoxProblem given, double* start)
      : rows(k), d(diagonal), problem(given), n(given.n), m(given.m), moves(problem, start), narrow(k, n, room, diagonal),
        scores(size()), ids(static_cast<std::size_t>(n)), own(diagonal, diagonal + given.n),
        block(static_cast<std::size_t>(m * n)), best(static_cast<std::size_t>(m)) {
    refresh();
    level = worst();  // checks the gap before the first step: the start may be good enough
  }

  /// Takes up to n_more steps. Returns true once bound.gap <= tol |bound.objective|, or only rounding errors are left.
  bool run(index_t n_more, double tol) {
    Watch watch;
    for (index_t t = 0; t < n_more; ++t) {
      watch.tick();
      if (since_shrinking++ >= std::min<index_t>(n, 300)) shrink();
      if (worst() <= level && settled(tol)) return true;
      step();
    }
    return false;
  }
  /// Computes the scores and `bound` of x, wherever the search stopped.
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
    index_t i;        // the place of the first, among the variables in use
  };
  /// Data of the variables in use, which occupy the first places of each of m blocks of n places.
  struct Block {
    std::vector<double> rate, up, down, sign;
    explicit Block(std::size_t length) : rate(length), up(length), down(length), sign(length) {}
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
  index_t in_use() const { return static_cast<index_t>(ids.size()); }

  /// Recomputes scores and rates from x, and takes all variables back into use.
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
    ids.resize(static_cast<std::size_t>(n));
    std::iota(ids.begin(), ids.end(), index_t{0});
    narrow.widen();
    own.assign(d, d + n);
    for (index_t c = 0; c < m; ++c) {
      for (index_t p = 0; p < n; ++p) {
        const index_t a = c * n + p;
        at(block.sign, a) = problem.sign[a];
        at(block.rate, a) = problem.sign[a] * (at(scores, a) - problem.linear[a]);
        price(c, p);
      }
      look<double>(c, nullptr, nullptr, 0, 0);
    }
    since_shrinking = 0;
    is_fresh = true;
  }

  /// Updates the costs of moving the variable at a place.
  void price(index_t c, index_t place) {
    const index_t a = c * n + at(ids, place), to = c * n + place;
    at(block.up, to) = moves.cost(a, problem.sign[a]);
    at(block.down, to) = moves.cost(a, -problem.sign[a]);
  }

  /// Adds multiples of two rows, if any, to the rates of a block, and finds the least ones.
  template <class Row>
  void look(index_t c, const Row* first, const Row* second, double of_first, double of_second) {
    const box_sides::Least least = box_sides::move(rates(c), in_use(), first, second, of_first, of_second);
    at(best, c) = {least.up, least.down, least.at};
  }
  box_sides::Rates rates(index_t c) {
    const index_t b = c * n;
    return {block.rate.data() + b, block.up.data() + b, block.down.data() + b, block.sign.data() + b};
  }

  void step() {
    if (in_use() == n) step([&](index_t place) { return rows.row(place); }, 1.0);
    else step([&](index_t place) { return narrow.row(place, ids.data()); }, narrow.scale());
    ++n_steps;
    is_fresh = false;
  }

  /// Takes a step, given rows of the variables in use, whose entries are multiplied by `unit`.
  template <class RowAt>
  void step(RowAt row, double unit) {
    index_t c = 0;
    for (index_t j = 1; j < m; ++j)
      if (at(best, j).up + at(best, j).down < at(best, c).up + at(best, c).down) c = j;
    const index_t i = at(best, c).i, b = c * n;
    const auto* const first = row(i);
    const double sign = at(block.sign, b + i), kept = std::exchange(at(block.down, b + i), never);
    const auto found = box_sides::partner(rates(c), own.data(), in_use(), first, at(best, c).up, at(own, i), 2 * sign / unit);
    at(block.down, b + i) = kept;
    if (!(found.gain > 0)) return;
    const index_t k = found.at;
    const double sum = at(own, i) + at(own, k), entry = rows.row(at(ids, i))[at(ids, k)];  // exact: rows may be nearly equal
    const double curved = std::max(sum - 2 * sign * at(block.sign, b + k) * entry, 1e-12 * sum + 1e-300);
    const double rate = at(best, c).up + at(block.down, b + k) - at(block.rate, b + k);
    const double length = moves.travel(c * n + at(ids, i), c * n + at(ids, k), rate, problem.coupling[c * m + c] * curved);
    price(c, i);
    price(c, k);
    const auto* const second = row(k);
    for (index_t j = 0; j < m; ++j) {
      const double moved = problem.coupling[j * m + c] * length / unit;
      look(j, first, second, sign * moved, at(block.sign, b + k) * moved);
    }
  }

  /// Leaves out variables that no violating pair of any block would contain, if there are enough of them to pay for it.
  void shrink() {
    since_shrinking = 0;
    std::vector<index_t> kept;
    for (index_t p = 0; p < in_use(); ++p) {
      bool takes_part = false;
      for (index_t c = 0; c < m; ++c) {
        const Best& b = at(best, c);
        const index_t a = c * n + p;
        takes_part |= at(block.rate, a) + at(block.up, a) + b.down <= 0 || at(block.down, a) - at(block.rate, a) + b.up <= 0;
      }
      if (takes_part) kept.push_back(p);
    }
    const auto n_kept = static_cast<index_t>(kept.size());
    if (n_kept == 0 || 8 * n_kept > 7 * in_use()) return;
    narrow.narrow(kept);
    for (index_t p = 0; p < n_kept; ++p) {
      const index_t from = at(kept, p);
      at(ids, p) = at(ids, from);
      at(own, p) = at(own, from);
      for (index_t c = 0; c < m; ++c)
        for (auto* values : {&block.rate, &block.up, &block.down, &block.sign})
          at(*values, c * n + p) = at(*values, c * n + from);
    }
    ids.resize(kept.size());
    for (index_t c = 0; c < m; ++c) {
      look<double>(c, nullptr, nullptr, 0, 0);
    }
  }

  /// Whether the gap is small enough. If not, lowers the violation at which it is checked next.
  bool settled(double tol) {
    if (in_use() < n) {
      refresh();
      if (worst() > level) return false;
    }
    while (true) {
      certify();
      const double wanted = tol * std::max(std::fabs(bound.objective), std::numeric_limits<double>::min());
      if (bound.gap <= wanted || worst() <= floor()) {
        if (is_fresh) return true;
        refresh();  // report results of x itself, without accumulated rounding errors
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
    for (index_t a = 0; a < m * n; ++a) at(scores, a) = problem.sign[a] * at(block.rate, a) + problem.linear[a];
    bound = certified(problem, moves.x, block.rate.data(), scores.data());
  }

  KernelRows& rows;
  const double* d;
  BoxProblem problem;
  index_t n, m;
  BoxMoves moves;
  NarrowRows narrow;
  std::vector<double> scores;
  std::vector<index_t> ids;  // of the rows in use
  std::vector<double> own;   // their diagonal entries
  Block block;
  std::vector<Best> best;
  double level = 0;
  index_t since_shrinking = 0;
  bool is_fresh = false;
};

}  // namespace thresher
