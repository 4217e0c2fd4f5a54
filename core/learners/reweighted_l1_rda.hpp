#pragma once
#include <algorithm>
#include <cmath>

#include "../shrink.hpp"
#include "../watch.hpp"
#include "l1_rda.hpp"

namespace thresher {

/// Dual averaging with an l1 penalty that is weighted anew in every step: small weights pay more, large ones less.
///
///     w_{t+1} = -(eta0 / sqrt(t)) soft(G_t, alpha Q_t + rho sqrt(t) / eta0),   Q_t = sum_{s <= t} Theta_s,
///     Theta_1 = 1,   Theta_{t+1} = 1 / (|w_{t+1}| + smoothing)
///
/// The gradient of a step is the mean over its mini-batch. A weight without gradient is brought up to date when a row asks for it:
/// one that is 0 stays 0, so that n steps are Q += n / smoothing; one that is not is stepped, since no closed form exists: one by
/// one while steps are long, then in strides of up to 1/64 of all steps. All in all O(non-zeros log(steps)).
/// Jumutc (2016), Algorithm 9.
template <class Batch>
struct ReweightedL1RdaRule {
  using Second = L1RdaRule<Direct>;
  static constexpr bool lazy = true, sound = true;
  /// Of one weight: after `step` steps, G and Q.
  struct Course { double gradient, penalty, step; };
  double *gradient_sum, *penalty_sum, *last_step, *n_steps;
  Batch batch;
  double alpha, eta0, rho, smoothing;
  bool free_constant;
  index_t constant;
  double shown = -1;  // for a look at the weights: the penalty that decides which of them are 0, if not alpha

  static void declare(std::vector<Field>& all, bool) {
    all.push_back({"gradient_sum", "weight", 0.0, "sum"});
    all.push_back({"penalty_sum", "weight", 0.0, "sum"});
    all.push_back(Field{"last_step", "weight", 0.0, "derived", "", "", "steps"}.counts("n_steps"));
    Batch::declare(all);
  }
  template <class Source>
  ReweightedL1RdaRule(const Source& s, bool)
      : gradient_sum(s.array("gradient_sum", "weight")), penalty_sum(s.array("penalty_sum", "weight")),
        last_step(s.array("last_step", "weight")), n_steps(s.array("n_steps", "")), batch(s), alpha(s.number("alpha")),
        eta0(s.number("eta0")), rho(s.number("rho")), smoothing(s.number("smoothing")), free_constant(s.flag("free_constant")),
        constant(s.n_weights - 1) {}

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) {
    return x.sum([&](index_t j, double xj) { return xj != 0 && keep(j) ? caught_up(j) * xj : 0; },
                 [&](index_t j, double xj) { return caught_up(j) * xj; });
  }
  /// Called before the step is counted: the weight moves on by one step, with its gradient; in a mini-batch, once that is over.
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep) {
    x.each([&](index_t j, double xj) {
      if (xj == 0) return;
      if (Batch::waits) {
        caught_up(j);
        batch.add(j, slope * xj);
        return;
      }
      if (is_free(j)) {
        gradient_sum[j] += slope * xj;
        return;
      }
      const double w = caught_up(j);
      penalty_sum[j] += theta(w, last_step[j]);
      gradient_sum[j] += slope * xj;
      ++last_step[j];
    });
  }
  template <class Row>
  double reach(const Row& x) const {
    return eta0 / std::sqrt(*n_steps + 1) * x.square();
  }
  double weight(index_t j) const {
    const Course now = course(j, *n_steps);
    if (shown < 0 || is_free(j)) return value(j, now);
    return order_of(now) <= shown ? 0 : shrunk(now, shown * now.penalty);
  }
  bool active(index_t j) { return caught_up(j) != 0; }

  double order(index_t j) const { return order_of(course(j, *n_steps)); }
  void cut_at(double order) { shown = order; }
  double penalty_at(double order) const { return order; }
  void set_penalty(double p) { alpha = p; }

  double batch_size() const { return batch.batch_size; }
  bool row_completes_batch() { return batch.row_completes_batch(); }
  double n_unfinished() const { return batch.n_unfinished(); }
  void step() { batch.next_batch(); }
  bool finish() {
    return batch.finish(constant + 1, [&](index_t j) { return last_step[j] == *n_steps; });
  }
  void settle() {
    Watch watch;
    for (index_t j = 0; j <= constant; ++j) {
      watch.tick();
      keep(j, course(j, *n_steps));
    }
  }
  void rebuild() {
    for (index_t j = 0; j <= constant; ++j) last_step[j] = *n_steps;
  }

 private:
  bool is_free(index_t j) const { return j == constant && free_constant; }
  double theta(double w, double step) const { return step == 0 ? 1 : 1 / (std::fabs(w) + smoothing); }
  static double order_of(const Course& c) { return c.step == 0 ? 0 : std::fabs(c.gradient) / c.penalty; }
  double shrunk(const Course& c, double least) const {
    return c.step == 0 ? 0 : -eta0 / std::sqrt(c.step) * soft_threshold(c.gradient, least);
  }
  double value(index_t j, const Course& c) const {
    const double least = is_free(j) ? 0 : cut(c);
    return std::fabs(c.gradient) <= least ? 0 : shrunk(c, least);  // most are 0, and need no root
  }
  /// Of a weight that is not free.
  double cut(const Course& c) const { return alpha * c.penalty + (rho == 0 ? 0 : rho * std::sqrt(c.step) / eta0); }
  /// Weight j after `t` steps without a gradient since its last one.
  THRESHER_INLINE Course course(index_t j, double t) const {
    Course c{gradient_sum[j], penalty_sum[j], last_step[j]};
    if (c.step == t) return c;
    const double held = batch[j];  // of a mini-batch that is over
    if (is_free(j)) return {c.gradient + held, 0, t};
    if (held != 0 || c.step == 0) c = {c.gradient + held, c.penalty + theta(value(j, c), c.step), c.step + 1};
    return std::fabs(c.gradient) <= cut(c) ? rested(c, t) : moved(c, t);
  }
  /// The cut only rises: a weight that is 0 stays 0.
  Course rested(const Course& c, double t) const { return {c.gradient, c.penalty + (t - c.step) / smoothing, t}; }
  /// A weight that is not 0, until it is. Where strides are short, several steps are made before the next one is looked at.
  Course moved(Course c, double t) const {
    const double size = std::fabs(c.gradient);
    int singles = 0;
    while (c.step < t) {
      const double scale = eta0 / std::sqrt(c.step), rest = size - cut(c);
      if (rest <= 0) return rested(c, t);
      if (singles == 0 && t - c.step > 3 && c.step >= 256) {
        if (strides(c, scale, scale * rest, t - c.step)) continue;
        singles = 8;
      }
      c.penalty += 1 / (scale * rest + smoothing);
      ++c.step;
      if (singles > 0) --singles;
    }
    return c;
  }
  /// At most n steps at once of a weight of size w, if more than three can be: Theta as a polynomial of the step, summed. With
  /// W = w + rho = eta0 (|G| - alpha Q) / sqrt(t) and k = eta0 alpha / sqrt(t),
  ///
  ///     Theta' = -Theta^2 W',      W' = -k Q' - W / (2t),      Q' = Theta - Theta' / 2 + Theta'' / 12,
  ///
  /// the last of which makes a difference of a slope; and so on, by derivatives of sqrt(t) W. Within 1/64 of t and 1/320 of
  /// w + smoothing, what is left out is less than 1e-9 of the sum. There k Theta^2 is below 1/960, for which 1 / (1 + k Theta^2 / 2) is
  /// a square.
  bool strides(Course& c, double scale, double w, double n) const {
    const double t = c.step, u = 1 / t, k = scale * alpha, W = w + rho, th = 1 / (w + smoothing);
    const double e = 0.5 * k * th * th, inverse = 1 - e + e * e;
    const double W1 = -(k * th + 0.5 * u * W) * inverse, p = th * W1;
    n = std::min(n, std::floor(t / 64));
    if (-320 * p * n > 1) n = std::floor(1 / (-320 * p));
    if (-2 * W1 * n > w) n = std::floor(w / (-2 * W1));
    if (!(n > 3)) return false;
    const double given2 = k * p * th - u * (W1 - 0.25 * u * W);  // W'', but for Theta'' / 2
    const double th2 = th * (2 * p * p - th * given2) * inverse, W2 = given2 + 0.5 * k * th2, q = th * W2;
    const double th1 = -th * (p - k * th * th2 / 12);
    const double W3 = -k * th2 - u * (1.5 * W2 - u * (0.75 * W1 - 0.375 * u * W)), r = th * W3;
    const double th3 = th * (6 * p * (q - p * p) - r);
    const double W4 = -k * th3 - u * (2 * W3 - u * (1.5 * W2 - u * (1.5 * W1 - 0.9375 * u * W)));
    const double th4 = th * (12 * p * p * (2 * p * p - 3 * q) + 6 * q * q + 8 * p * r - th * W4);
    const double pairs = n * (n - 1) / 2, squares = pairs * (2 * n - 1) / 3;  // sums of s and s^2 over the steps, s^3 and s^4
    const double fourths = squares * (6 * pairs - 1) / 5;
    c.penalty += n * th + th1 * pairs + th2 / 2 * squares + th3 / 6 * (pairs * pairs) + th4 / 24 * fourths;
    c.step += n;
    return true;
  }
  void keep(index_t j, const Course& c) {
    if (Batch::waits) {
      gradient_sum[j] = c.gradient;
      if (c.step > last_step[j]) batch.clear(j);
    }
    penalty_sum[j] = c.penalty;
    last_step[j] = c.step;
  }
  double caught_up(index_t j) {
    const Course c = course(j, *n_steps);
    if (Batch::waits || !is_free(j)) keep(j, c);
    return value(j, c);
  }
};

template <class Batch>
using ReweightedL1Rda = Sparse<ReweightedL1RdaRule<Batch>>;

THRESHER_LEARNER(ReweightedL1Rda, "Dual averaging with a reweighted l1 penalty.", ReweightedL1Rda<AtOnce>)
THRESHER_LEARNER(ReweightedL1RdaBatch, "The same, a step for every batch_size rows.", ReweightedL1Rda<Waiting>)

}  // namespace thresher
