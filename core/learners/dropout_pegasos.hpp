#pragma once
#include <cmath>

#include "../draws.hpp"
#include "../learner.hpp"
#include "../loss.hpp"
#include "../watch.hpp"

namespace thresher {

/// Dropout Pegasos: instead of all weights, step t shrinks each one with a probability that grows with its size.
///
///     r_j ~ Bernoulli(w_j^2 / (1 + w_j^2)),      w <- w - (w o r) / t - (1/t) A^-1 g_t,      no projection
///
/// Both terms use the weights before the step. In expectation the first is the gradient of (alpha / 2) (w^2 - log(1 + w^2)).
///
/// A weight that no row asks for is only shrunk. What n steps after step s made of it is drawn when a row asks. In expectation
/// its logarithm falls by the integral of p = w^2 / (1 + w^2) over log t; K of the n steps shrink it, where p is about the same
/// for n <= s / 16, and the mean of log(1 - 1/t) over these steps telescopes:
///
///     w <- w (s / (s + n))^(K / n),      K ~ Binomial(n, mean of p on the expected way)
///
/// One step is exact: a coin, and so are all before step 64. In longer strides, where the shrinks fall is replaced by its mean,
/// which moves a weight by about .002 / sqrt(s) of it, and K spreads up to 2 % too far, since p falls where K is large. So a row costs
/// O(non-zeros), and to read a weight after t steps O(log t).
/// Jumutc (2016), Algorithm 11, with the sign of the gradient put right; the strides are ours.
struct DropoutPegasos : Plain {
  struct Planned { double value, step; };  // the weight, with the shrinks of all steps until then

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
            Field{"seed", "", 0.0, "sum"}.counts(),  // that of the common start, or one that no shard has
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
    x.each([&](index_t j, double) { prefetch_line(planned + j); }, nothing);  // they arrive while others are drawn
    return x.sum([&](index_t j, double xj) {
      if (xj == 0) return 0.0;
      planned[j] = after(planned[j], j, *n_steps);
      return planned[j].value * xj;
    });
  }
  double weight(index_t j) const { return after(planned[j], j, *n_steps).value; }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double t = *n_steps + 1, gain = weight * criterion.slope(margin, y) / t;
    if (gain != 0)
      x.each([&](index_t j, double xj) {  // every j was caught up by margin
        const double change = gain * (inverse_alphas ? inverse_alphas[j] : inverse_alpha) * xj;
        if (change != 0) planned[j] = {after(planned[j], j, t).value - change, t};
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
  /// Weight j after step t, with all shrinks up to there.
  Planned after(Planned w, index_t j, double t) const {
    if (w.value == 0 || (j == constant && free_constant)) return {w.value, t};
    const double column = j == constant ? -1.0 : static_cast<double>(j);  // the constant may move
    while (w.step < t) {
      const double n = w.step < 64 ? 1 : std::min(t - w.step, std::floor(w.step / 16));
      w.value *= shrunk(w, n, draws(column, w.step));
      w.step += n;
    }
    return w;
  }
  /// What the next n steps leave of a weight, as u will have it.
  static double shrunk(const Planned& w, double n, double u) {
    const double square = std::min(w.value * w.value, 1e300), p = square / (1 + square), q = 1 - p;
    if (u <= 1 - n * p) return 1;  // the chance that no coin says shrink is at least that
    if (n == 1) return w.step / (w.step + 1);
    const double z = n / (2 * w.step + n), z2 = z * z;
    const double way = 2 * z * (1 + z2 * (1. / 3 + z2 * (1. / 5 + z2 * (1. / 7 + z2 / 9))));  // log((s + n) / s)
    const double mean = p - way * q * p * p * (1 - way * p * (2 * q - p) * (2. / 3));         // dp / dlog t = -2 q p^2
    const double count = mean < 0.5 ? count_draw(u, n, mean) : n - count_draw(1 - u, n, 1 - mean);
    return std::exp(-count * (way / n));
  }
};

THRESHER_LEARNER(DropoutPegasos, "Pegasos that shrinks weights by chance.", DropoutPegasos)

}  // namespace thresher
