#pragma once
#include <cmath>

#include "../shrink.hpp"
#include "sparse.hpp"

namespace thresher {

/// The sums of gradients and of their squares, interleaved.
struct DirectSquares {
  struct Sum { double gradient, square; };
  Sum* sums;
  static constexpr double batch_size = 1;

  static void declare(std::vector<Field>& fields, const char* gradient, const char* square) {
    fields.push_back({gradient, "weight", 0.0, "sum"});
    fields.push_back({square, "weight", 0.0, "sum", "", gradient});
  }
  template <class Source>
  DirectSquares(const Source& s, const char* gradient, const char* square)
      : sums(reinterpret_cast<Sum*>(s.pair(gradient, square))) {}

  double gradient(index_t j) const { return sums[j].gradient; }
  double square_at(index_t j) const { return sums[j].square; }
  /// Adds a gradient. Returns the new sum of squares.
  double count(index_t j, double g) {
    sums[j].gradient += g;
    return sums[j].square += g * g;
  }
  bool row_completes_batch() { return true; }
  double n_unfinished() const { return 0; }
  void next_batch() {}
  void scale_held(double) {}
  void settle() {}
  void rebuild() {}
};

/// The same for mini-batches.
struct HeldBackSquares : HeldBack {
  static void declare(std::vector<Field>& fields, const char* gradient, const char* square) {
    HeldBack::declare(fields, gradient, "sum", false);
    fields.push_back({square, "weight", 0.0, "sum"});
  }
  template <class Source>
  HeldBackSquares(const Source& s, const char* gradient, const char* squares) : HeldBack(s, gradient, false) {
    square = s.array(squares, "weight");
  }

  double gradient(index_t j) const { return (*this)[j]; }
  /// Adds a gradient. Returns an upper bound on the new sum of squares.
  double count(index_t j, double g) {
    add(j, g, 0);
    const double most = batch_size * pending[j];  // if the batch ends with this row
    return square[j] + most * most;
  }
  /// Shards complete a mini-batch that was open at their start in different ways, so a merged sum of squares may be below 0.
  void rebuild() {
    for (index_t j = 0; j < n_weights; ++j) square[j] = std::max(square[j], 0.0);
  }
};

/// Adaptive dual averaging: every weight has its own step size. After t steps, with G the sum of gradients and H = smoothing +
/// sqrt(sum of their squares), feature by feature,
///
///     w = argmin_w  <G / t, w> + alpha |w|_1 + l2_weight |w|^2 / 2 + H w^2 / (2 eta0 t)
///       = -soft(G, alpha t) / (l2_weight t + H / eta0)
///
/// The gradient of a step is the mean over its mini-batch. A free constant feature has no penalty: w = -eta0 G / H. A weight is a
/// function of (G, H, t) and computed when it is read, so a row costs O(non-zeros).
/// Duchi, Hazan & Singer, JMLR 12 (2011), eq. 20; Jumutc (2016), eq. 4.22.
template <class Sums>
struct AdaptiveL1RdaRule {
  using Second = AdaptiveL1RdaRule;
  static constexpr bool lazy = false;
  Sums sums;
  double* n_steps;
  double alpha, eta0, smoothing, l2_weight;
  bool free_constant;
  index_t constant;
  double cut = 0, ridge = 0;
  bool sound = true;

  static void declare(std::vector<Field>& all, bool second) { Sums::declare(all, names(second).first, names(second).second); }
  template <class Source>
  AdaptiveL1RdaRule(const Source& s, bool second)
      : sums(s, names(second).first, names(second).second), n_steps(s.array("n_steps", "")),
        alpha(second ? 0 : s.number("alpha")), eta0(s.number("eta0")), smoothing(s.number("smoothing")),
        l2_weight(s.number("l2_weight")), free_constant(s.flag("free_constant")), constant(s.n_weights - 1) {
    look_up();
  }

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) const {
    const double sum = x.sum([&](index_t j, double xj) { return keep(j) ? penalised(j) * xj : 0; }, nothing);
    return sum + x.bias * weight(constant);
  }
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep keep) {
    double all = 0;
    const auto count = [&](index_t j, double xj) { all += sums.count(j, slope * xj); };
    x.each([&](index_t j, double xj) {
      if (keep(j)) count(j, xj);
    }, count);
    sound = std::isfinite(all);
  }
  template <class Row>
  static constexpr double reach(const Row&) {
    return 0;
  }
  double weight(index_t j) const { return j == constant && free_constant ? -eta0 * sums.gradient(j) / inertia(j) : penalised(j); }
  bool active(index_t j) const { return order(j) > cut; }

  double order(index_t j) const { return std::fabs(sums.gradient(j)); }
  void cut_at(double order) { cut = order; }
  double penalty_at(double order) const { return order / *n_steps; }
  void set_penalty(double p) {
    alpha = p;
    look_up();
  }

  double batch_size() const { return sums.batch_size; }
  bool row_completes_batch() { return sums.row_completes_batch(); }
  void step() {
    sums.next_batch();
    look_up();
  }
  /// Completes the mini-batch with the rows it has. Returns false if it has none.
  bool finish() {
    if (sums.n_unfinished() == 0) return false;
    sums.scale_held(sums.batch_size / sums.n_unfinished());
    return true;
  }
  void settle() { sums.settle(); }
  void rebuild() {
    sums.rebuild();
    look_up();
  }

 private:
  void look_up() {
    cut = alpha * *n_steps;
    ridge = l2_weight * *n_steps;
  }
  static std::pair<const char*, const char*> names(bool second) {
    return second ? std::pair("debiased_gradient_sum", "debiased_square_sum") : std::pair("gradient_sum", "square_sum");
  }
  double inertia(index_t j) const { return smoothing + std::sqrt(sums.square_at(j)); }
  /// Written without a branch, which would often be mispredicted.
  double penalised(index_t j) const {
    const double pulled = soft_threshold(sums.gradient(j), cut);
    return choose(pulled == 0, 0, -eta0 * pulled / (eta0 * ridge + inertia(j)));
  }
};

template <class Sums>
using AdaptiveL1Rda = Sparse<AdaptiveL1RdaRule<Sums>>;

THRESHER_LEARNER(AdaptiveL1Rda, "l1 and l2 dual averaging with a step size for every weight.", AdaptiveL1Rda<DirectSquares>)
THRESHER_LEARNER(AdaptiveL1RdaBatch, "The same, a step for every batch_size rows.", AdaptiveL1Rda<HeldBackSquares>)

}  // namespace thresher
