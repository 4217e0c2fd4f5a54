#pragma once
#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "../learner.hpp"
#include "../loss.hpp"

namespace thresher {

/// AROW-K selects few features in one pass. A scout, AROW on all features, ranks them by mean^2 / variance. A second AROW learns
/// on the K features of highest rank and predicts.
///
/// A feature is in use if its order mean^2 / variance is above a level half way between the K-th largest and the next. The level
/// is recomputed at steps 64, 128, 256, ..., in O(d) each, and before weights are read, among features that both learners have
/// met. With `n_selected` = 0, all features are in use, without a scout. With `relative`, r is in units of the mean |x|^2 so far.
/// A row weight divides r. Variances follow the `drop` form of DiagonalLearner.
struct ArowSelecting : Plain {
  struct Belief { double mean, variance; };
  struct Entry {
    index_t j;
    double x;
  };
  Belief *belief, *scout = nullptr;
  double *n_steps, *square_sum, *level = nullptr;
  double r;
  bool relative;
  index_t n_selected, constant;
  double cut_now = -1;  // the level for reading weights, possibly recomputed
  double next_level = 64;
  std::vector<Entry> in_use = std::vector<Entry>(64);  // of the row scored last
  index_t n_in_use = 0;
  double scout_margin = 0, square = 0;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all{{"coef", "weight", 0.0, "weighted", "variance"},
                           {"variance", "weight", 1.0, "precision", "", "coef"},
                           Field{"n_steps", "", 0.0, "sum"}.counts(),
                           {"square_sum", "", 0.0, "sum"}};
    if (s.number("n_selected") > 0) {
      all.push_back({"scout_coef", "weight", 0.0, "weighted", "scout_variance"});
      all.push_back({"scout_variance", "weight", 1.0, "precision", "", "scout_coef"});
      all.push_back({"level", "", -1.0, "derived"});
    }
    return all;
  }
  template <class Source>
  explicit ArowSelecting(const Source& s)
      : belief(reinterpret_cast<Belief*>(s.pair("coef", "variance"))), n_steps(s.array("n_steps", "")),
        square_sum(s.array("square_sum", "")), r(s.number("r")), relative(s.flag("relative")),
        n_selected(static_cast<index_t>(std::min(s.number("n_selected"), 1e15))), constant(s.n_weights - 1) {
    if (n_selected > 0) {
      scout = reinterpret_cast<Belief*>(s.pair("scout_coef", "scout_variance"));
      level = s.array("level", "");
      cut_now = *level;
    }
    while (next_level <= *n_steps) next_level *= 2;
  }

  /// One pass over the row computes the scout's margin and collects the features in use, the only ones for the second learner.
  template <class Row>
  double margin(const Row& x) {
    index_t n = 0;
    double f = 0, total = 0;
    const auto note = [&](index_t j, double xj) {
      if (n == static_cast<index_t>(in_use.size())) in_use.resize(2 * n);
      in_use[n] = {j, xj};
    };
    const auto note_constant = [&](index_t j, double xj) {
      if (scout) f += scout[j].mean * xj;
      note(j, xj);
      ++n;
    };
    if (scout) {
      const double cut = *level;
      x.each([&](index_t j, double xj) {
        const Belief b = scout[j];
        f += b.mean * xj;
        total += xj * xj;
        note(j, xj);
        n += b.mean * b.mean > cut * b.variance;
      }, note_constant);
    } else {
      x.each([&](index_t j, double xj) {
        total += xj * xj;
        note(j, xj);
        ++n;
      }, note_constant);
    }
    n_in_use = n;
    scout_margin = f;
    square = total;
    double margin = 0;
    for (index_t i = 0; i < n; ++i) margin += belief[in_use[i].j].mean * in_use[i].x;
    return margin;
  }
  double weight(index_t j) const { return j == constant || used(j) ? belief[j].mean : 0; }
  double variance(index_t j) const { return belief[j].variance; }
  double loss(double margin, double y) const { return Hinge().value(margin, y); }
  /// x' Sigma x over the features in use with keep(j).
  template <class Row, class Keep>
  double spread(const Row& x, Keep keep) const {
    return x.sum([&](index_t j, double xj) { return keep(j) && (j == constant || used(j)) ? belief[j].variance * xj * xj : 0; });
  }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    *square_sum += square;
    ++*n_steps;
    const double inertia = (relative ? r * (*square_sum / *n_steps) : r) / weight;
    const bool can_move = std::isfinite(inertia) && inertia > 0;  // not if all rows were empty, nor if the weight is negligible
    const double l = loss(margin, y), scout_loss = scout ? loss(scout_margin, y) : 0;
    if (can_move && l > 0) learn(y, l, inertia);
    if (can_move && scout_loss > 0) learn_scout(x, y, scout_loss, inertia);
    if (scout && *n_steps >= next_level) {
      next_level *= 2;
      find_level();
    }
    return can_move && (l > 0 || scout_loss > 0);
  }

  /// The evidence for a feature; 0 if the second learner has not met it.
  double evidence(index_t j) const { return scout && belief[j].mean != 0 ? order(j) : 0; }
  void rebuild() {
    if (scout) find_level();
  }
  /// Before weights are read: selects exactly n_selected of them, or all if there are fewer.
  void read() {
    if (scout) cut_now = cut([this](index_t j) { return belief[j].mean != 0; });  // met by the second learner
  }

 private:
  bool used(index_t j) const { return !scout || order(j) > cut_now; }
  double order(index_t j) const { return scout[j].mean * scout[j].mean / scout[j].variance; }

  static void move(Belief& b, double xj, double step, double beta, double inertia, double spread) {
    const double sx = b.variance * xj;
    b.mean += step * sx;
    b.variance *= beta * (inertia + std::max(0.0, spread - sx * xj));
  }
  void learn(double y, double l, double inertia) {
    double v = 0;
    for (index_t i = 0; i < n_in_use; ++i) v += belief[in_use[i].j].variance * in_use[i].x * in_use[i].x;
    const double beta = 1 / (v + inertia), step = l * beta * y;
    for (index_t i = 0; i < n_in_use; ++i) move(belief[in_use[i].j], in_use[i].x, step, beta, inertia, v);
  }
  template <class Row>
  void learn_scout(const Row& x, double y, double l, double inertia) {
    const double v = x.sum([&](index_t j, double xj) { return scout[j].variance * xj * xj; });
    const double beta = 1 / (v + inertia), step = l * beta * y;
    x.each([&](index_t j, double xj) { move(scout[j], xj, step, beta, inertia, v); });
  }

  void find_level() {
    cut_now = *level = cut([](index_t) { return true; });
  }
  /// Half way between the n_selected-th largest order and the next among features with may(j), so that rounding does not matter.
  /// If there are too few features, -1: all are in use. Orders mostly rise, so those above the last level usually suffice.
  template <class May>
  double cut(May may) const {
    std::vector<double> orders = orders_above(*level, may);
    if (static_cast<index_t>(orders.size()) <= n_selected) orders = orders_above(0, may);
    if (static_cast<index_t>(orders.size()) <= n_selected) return -1;
    const auto next = orders.begin() + n_selected;
    std::nth_element(orders.begin(), next, orders.end(), std::greater<double>());
    return *next + (*std::min_element(orders.begin(), next) - *next) / 2;
  }
  template <class May>
  std::vector<double> orders_above(double low, May may) const {
    std::vector<double> orders;
    low = std::max(low, 0.0);
    for (index_t j = 0; j < constant; ++j)
      if (scout[j].mean * scout[j].mean > low * scout[j].variance && may(j)) orders.push_back(order(j));
    return orders;
  }
};

THRESHER_LEARNER(ArowSelecting, "AROW-K: r, relative, n_selected.", ArowSelecting)

}  // namespace thresher
