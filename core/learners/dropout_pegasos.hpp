#pragma once
#include <cmath>
#include <vector>

#include "../draws.hpp"
#include "../learner.hpp"
#include "../loss.hpp"

namespace thresher {

/// Dropout Pegasos: instead of all weights, step t shrinks each one with a probability that grows with its size.
///
///     r_j ~ Bernoulli(w_j^2 / (1 + w_j^2)),      w <- w - (w o r) / t - (1/t) A^-1 g_t,      no projection
///
/// Both terms use the weights before the step. In expectation the first is the gradient of (alpha / 2) (w^2 - log(1 + w^2)).
/// Between two changes w_j is constant, so the wait for its next shrink is geometric: it is drawn once, when w_j changes, and
/// the shrinks that are over are made up for when a row asks for w_j. That is the law of the coin in every step, for
/// O(non-zeros) a row and O(1) a shrink. A change forgets the wait that was drawn before, which a geometric law allows.
/// Every `longest_wait` steps all weights are brought up to date, so that none has much to make up for.
/// Jumutc (2016), Algorithm 11, with the sign of the gradient put right; the wait is ours.
struct DropoutPegasos : Plain {
  struct Planned { double value, due; };  // the weight since its last change, the step that shrinks it next; 0: not drawn yet
  static constexpr double longest_wait = 16384, never = 0x1p53;

  Planned* planned;
  double *n_steps, *settled;  // steps so far; the step from which waits count that were not drawn yet
  double seed;
  const double* inverse_alphas;  // one per weight, or null
  double inverse_alpha;
  bool free_constant;
  index_t constant;
  const Loss& criterion;
  mutable std::vector<Planned> met;  // the weights of the row that margin read last, which is the row that update gets

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {Field{"n_steps", "", 0.0, "sum"}.counts(),
            Field{"settled", "", 0.0, "sum"}.counts("n_steps"),
            Field{"seed", "", 0.0, "sum"}.counts(),  // that of the common start, or one that no shard has
            {"coef", "weight", 0.0, "mean"},
            Field{"due", "weight", 0.0, "derived", "", "coef"}.counts()};
  }
  template <class Source>
  explicit DropoutPegasos(const Source& s)
      : planned(reinterpret_cast<Planned*>(s.pair("coef", "due"))), n_steps(s.array("n_steps", "")),
        settled(s.array("settled", "")), seed(*s.array("seed", "")), inverse_alphas(s.vector("inverse_alphas")),
        inverse_alpha(s.number("inverse_alpha")), free_constant(s.flag("free_constant")), constant(s.n_weights - 1),
        criterion(s.loss()) {}

  template <class Row>
  double margin(const Row& x) const {
    met.clear();
    return x.sum([&](index_t j, double xj) {
      if (xj == 0) return 0.0;
      met.push_back(after(planned[j], j, *n_steps));
      return met.back().value * xj;
    });
  }
  double weight(index_t j) const { return after(planned[j], j, *n_steps).value; }
  double loss(double margin, double y) const { return criterion.value(margin, y); }
  bool wants_settling() const { return *n_steps - *settled >= longest_wait; }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double t = *n_steps + 1, gain = weight * criterion.slope(margin, y) / t;
    auto next = met.begin();
    x.each([&](index_t j, double xj) {
      if (xj == 0) return;
      Planned w = after(*next++, j, t);  // with the shrink of step t, if there is one
      const double change = gain * (inverse_alphas ? inverse_alphas[j] : inverse_alpha) * xj;
      if (change != 0) w = plan(j, t, w.value - change);
      planned[j] = w;
    });
    *n_steps = t;
    return gain != 0;
  }

  /// All weights as they are now, and no wait drawn: those of a merged state count from its own last step.
  void settle() {
    for (index_t j = 0; j <= constant; ++j) planned[j] = {weight(j), 0};
    *settled = *n_steps;
  }

 private:
  /// A weight that changed at a step, and the first step after it whose coin says shrink.
  Planned plan(index_t j, double step, double value) const {
    if (value == 0 || (j == constant && free_constant)) return {value, never};
    const double u = uniform_draw(seed, j == constant ? -1.0 : static_cast<double>(j), step);  // the constant may move
    const double due = step + 1 + std::floor(-std::log(u) / std::log1p(value * value));        // log1p: -log(1 - p)
    return {value, due < never ? due : never};
  }
  /// Weight j after a step, with all shrinks up to there.
  Planned after(Planned w, index_t j, double step) const {
    if (w.value == 0) return w;
    if (w.due == 0) w = plan(j, *settled, w.value);
    while (w.due <= step) w = plan(j, w.due, w.value * (1 - 1 / w.due));
    return w;
  }
};

THRESHER_LEARNER(DropoutPegasos, "Pegasos that shrinks weights by chance.", DropoutPegasos)

}  // namespace thresher
