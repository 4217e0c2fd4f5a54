#pragma once
#include <cmath>

#include "../draws.hpp"
#include "../learner.hpp"
#include "../loss.hpp"
#include "../watch.hpp"

namespace thresher {

/// Dropout Pegasos: step t shrinks each weight only with a probability that grows with its size.
///
///     r_j ~ Bernoulli(w_j^2 / (1 + w_j^2)),      w <- w - (w o r) / t - (1/t) A^-1 g_t,      no projection
///
/// Both terms use the weights before the step. In expectation, the first is a gradient step on (alpha / 2) (w^2 - log(1 + w^2)).
///
/// Shrinkage is drawn lazily and in strides, when a row needs a weight. In expectation, the logarithm of a weight without
/// gradients falls by the integral of p = w^2 / (1 + w^2) over log t. Of the n steps after step s, K shrink the weight. If
/// n <= s / 4, p stays about the same, and the mean of log(1 - 1/t) over these steps telescopes:
///
///     w <- w (s / (s + n))^(K / n),      K ~ Binomial(n, mean of p on the expected path)
///
/// Single steps are exact, and all steps before step 64 are single. Longer strides replace the positions of the shrinking steps
/// by their mean, which changes a weight by at most 0.02 / sqrt(s) of its size. A large K lowers p, so deviations of K from its
/// mean are reduced slightly.
///
/// From step 64 on, up to s / 16 steps of a weight stay pending: a draw costs six times as much as the rest of a row. The weight
/// is read as their expected result, E(w) = w (1 - p n / (s + n)). A gradient changes w such that E(w) moves by the gradient,
/// to 0.1 %. A row costs O(non-zeros), and reading a weight after t steps O(log t).
/// Jumutc (2016), Algorithm 11, with the sign of the gradient corrected and strides added.
struct DropoutPegasos : Plain {
  struct Planned { double value, step; };  // the weight with the shrinkage of all steps up to `step`

  Planned* planned;
  double* n_steps;
  Draws draws;
  const double* inverse_alphas;  // one per weight, or null
  double inverse_alpha;
  bool free_constant;
  index_t constant;
  const Loss& criterion;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {Field{"n_steps", "", 0.0, "sum"}.counts(),
            Field{"seed", "", 0.0, "sum"}.counts(),  // merging keeps a common start's seed, or makes a new one
            {"coef", "weight", 0.0, "mean"},
            Field{"last_step", "weight", 0.0, "derived", "", "coef", "steps"}.counts("n_steps")};
  }
  template <class Source>
  explicit DropoutPegasos(const Source& s)
      : planned(reinterpret_cast<Planned*>(s.pair("coef", "last_step"))), n_steps(s.array("n_steps", "")),
        draws(*s.array("seed", "")), inverse_alphas(s.vector("inverse_alphas")), inverse_alpha(s.number("inverse_alpha")),
        free_constant(s.flag("free_constant")), constant(s.n_weights - 1), criterion(s.loss()) {}

  template <class Row>
  double margin(const Row& x) {
    x.each([&](index_t j, double) { prefetch_line(planned + j); }, nothing);
    const double t = *n_steps, per_step = inverse(t);
    index_t due[64];
    int n = 0;
    const auto draw_due = [&] {
      for (int i = 0; i < n; ++i) planned[due[i]] = drawn(due[i], planned[due[i]], t);
      n = 0;
    };
    x.each([&](index_t j, double xj) {  // first collects the weights that are due, so that their draws overlap
      due[n] = j;
      n += (xj != 0) & is_due(planned[j], t);
      if (n == 64) draw_due();
    });
    draw_due();
    return x.sum(
        [&](index_t j, double xj) { return xj == 0 ? 0.0 : expected(planned[j].value, owed(j, planned[j], t) * per_step) * xj; });
  }
  double weight(index_t j) const {
    const double t = *n_steps;
    const Planned w = drawn(j, planned[j], t);
    return expected(w.value, owed(j, w, t) * inverse(t));
  }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double t = *n_steps + 1, per_step = inverse(t), gain = weight * criterion.slope(margin, y) * per_step;
    if (gain != 0)
      x.each([&](index_t j, double xj) {
        const double change = gain * (inverse_alphas ? inverse_alphas[j] : inverse_alpha) * xj;
        if (change == 0) return;
        draw(j, t);
        planned[j].value = moved(planned[j].value, change, owed(j, planned[j], t) * per_step);
      });
    *n_steps = t;
    return gain != 0;
  }

  void settle() {
    Watch watch;
    for (index_t j = 0; j <= constant; ++j) {
      watch.tick();
      planned[j] = {weight(j), *n_steps};
    }
  }
  void rebuild() {
    for (index_t j = 0; j <= constant; ++j) planned[j].step = *n_steps;
  }

 private:
  static double inverse(double t) { return t > 0 ? 1 / t : 0; }
  static double squared(double w) { return std::min(w * w, 1e100); }
  bool is_free(index_t j) const { return j == constant && free_constant; }
  static bool is_due(const Planned& w, double t) { return 16 * (t - w.step) > choose(w.step < 64, 0, w.step); }
  void draw(index_t j, double t) {
    if (is_due(planned[j], t)) planned[j] = drawn(j, planned[j], t);
  }
  /// Weight j after step t, drawn if too many steps are pending.
  THRESHER_APART Planned drawn(index_t j, Planned w, double t) const {
    if (!is_due(w, t)) return w;
    if (w.value == 0 || is_free(j)) return {w.value, t};
    const double column = j == constant ? -1.0 : static_cast<double>(j);  // the column of the constant may change
    while (w.step < t) {
      const double n = w.step < 64 ? 1 : std::min(t - w.step, static_cast<double>(static_cast<index_t>(w.step / 4)));
      w.value *= shrunk(w, n, draws(column, w.step));
      w.step += n;
    }
    return w;
  }
  double owed(index_t j, const Planned& w, double t) const { return is_free(j) ? 0 : t - w.step; }
  /// E(w), where `part` of all steps are pending.
  static double expected(double w, double part) {
    const double square = squared(w);
    return w * ((1 + square * (1 - part)) / (1 + square));
  }
  /// The weight with an E(w) that is less by `change`: a guess from the slope of E, then the quotient by its factor at the guess.
  static double moved(double w, double change, double part) {
    const double square = squared(w), q = 1 / (1 + square), target = w * (1 - part * square * q) - change;
    const double bend = part * square * (3 + square) * q * q, guess = squared(w - change * (1 + bend * (1 + bend)));
    return target * ((1 + guess) / (1 + guess * (1 - part)));
  }
  /// The factor by which the next n steps shrink a weight, for a uniform number u.
  static double shrunk(const Planned& w, double n, double u) {
    const double square = squared(w.value), p = square / (1 + square), q = 1 - p;
    if (u <= 1 - n * p) return 1;  // no step shrinks it with a probability of at least 1 - n p
    if (n == 1) return w.step / (w.step + 1);
    const double z = n / (2 * w.step + n), z2 = z * z;
    const double way = 2 * z * (1 + z2 * (1. / 3 + z2 * (1. / 5 + z2 * (1. / 7 + z2 * (1. / 9 + z2 / 11)))));  // log((s + n) / s)
    const double mean = p - way * q * p * p * (1 - way * p * (2 * q - p) * (2. / 3));  // dp / dlog t = -2 q p^2
    const double count = mean < 0.5 ? count_draw(u, n, mean) : n - count_draw(1 - u, n, 1 - mean);
    return exp_of_small((p * q * way * (count - n * mean) - count) * (way / n));
  }
  /// exp(x) for |x| <= 1/4, as in a stride.
  static double exp_of_small(double x) {
    const double x2 = x * x, x4 = x2 * x2;
    return (1 + x + x2 * (1. / 2 + x * (1. / 6))) + x4 * ((1. / 24 + x * (1. / 120)) + x2 * (1. / 720 + x * (1. / 5040))) +
           x4 * x4 * ((1. / 40320 + x * (1. / 362880)) + x2 * (1. / 3628800));
  }
};

THRESHER_LEARNER(DropoutPegasos, "Pegasos that shrinks weights by chance.", DropoutPegasos)

}  // namespace thresher
