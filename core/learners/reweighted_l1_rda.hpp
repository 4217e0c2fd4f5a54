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
/// one that is 0 stays 0, so that n steps are Q += n / smoothing; one that is not is stepped, since the recursion is one of Abel's
/// second kind, without a closed form: one by one while steps are long, then in strides. All in all O(non-zeros log(steps)).
/// Jumutc (2016), Algorithm 9.
template <class Batch>
struct ReweightedL1RdaRule {
  using Second = L1RdaRule<Direct>;
  static constexpr bool lazy = true, sound = true;
  /// Of one weight: after `step` steps, G and Q.
  struct Course { double gradient, penalty, step; };
  struct Paid { double penalty, step; };
  double *gradient_sum, *n_steps;
  Paid* paid;
  Batch batch;
  double alpha, eta0, rho, smoothing, most;  // most: Theta of a weight that is 0
  bool free_constant;
  index_t constant;
  double shown = -1;  // for a look at the weights: the penalty that decides which of them are 0, if not alpha

  static void declare(std::vector<Field>& all, bool) {
    all.push_back({"gradient_sum", "weight", 0.0, "sum"});
    all.push_back({"penalty_sum", "weight", 0.0, "sum"});
    all.push_back(Field{"last_step", "weight", 0.0, "derived", "", "penalty_sum", "steps"}.counts("n_steps"));
    Batch::declare(all);
  }
  template <class Source>
  ReweightedL1RdaRule(const Source& s, bool)
      : gradient_sum(s.array("gradient_sum", "weight")), n_steps(s.array("n_steps", "")),
        paid(reinterpret_cast<Paid*>(s.pair("penalty_sum", "last_step"))), batch(s), alpha(s.number("alpha")),
        eta0(s.number("eta0")), rho(s.number("rho")), smoothing(s.number("smoothing")), most(1 / smoothing),
        free_constant(s.flag("free_constant")), constant(s.n_weights - 1) {}

  template <class Row, class Keep>
  double score(const Row& x, Keep keep) {
    x.each([&](index_t j, double) {  // three numbers for each weight do not fit the nearest caches
      prefetch_line(paid + j);
      prefetch_line(gradient_sum + j);
    }, nothing);
    const double scale = scale_at(*n_steps);
    return x.sum([&](index_t j, double xj) { return xj != 0 && keep(j) ? caught_up(j, scale) * xj : 0; },
                 [&](index_t j, double xj) { return caught_up(j, scale) * xj; });
  }
  /// Called before the step is counted: the weight moves on by one step, with its gradient; in a mini-batch, once that is over.
  template <class Row, class Keep>
  void add(const Row& x, double slope, Keep) {
    const double t = *n_steps, scale = scale_at(t);
    x.each([&](index_t j, double xj) {
      if (xj == 0) return;
      if (Batch::waits) {
        caught_up(j, scale);
        batch.add(j, slope * xj);
        return;
      }
      if (!is_free(j)) {
        const Course c = course(j, t);
        paid[j] = {c.penalty + theta(value(j, c, scale), t), t + 1};
      }
      gradient_sum[j] += slope * xj;
    });
  }
  template <class Row>
  double reach(const Row& x) const {
    return eta0 / std::sqrt(*n_steps + 1) * x.square();
  }
  double weight(index_t j) const {
    const Course now = course(j, *n_steps);
    const double scale = scale_at(now.step);
    if (shown < 0 || is_free(j)) return value(j, now, scale);
    return order_of(now) <= shown ? 0 : -scale * soft_threshold(now.gradient, shown * now.penalty);
  }
  bool active(index_t j) { return caught_up(j, 1) != 0; }

  double order(index_t j) const { return order_of(course(j, *n_steps)); }
  void cut_at(double order) { shown = order; }
  double penalty_at(double order) const { return order; }
  void set_penalty(double p) { alpha = p; }

  double batch_size() const { return batch.batch_size; }
  bool row_completes_batch() { return batch.row_completes_batch(); }
  double n_unfinished() const { return batch.n_unfinished(); }
  void step() { batch.next_batch(); }
  bool finish() {
    return batch.finish(constant + 1, [&](index_t j) { return paid[j].step == *n_steps; });
  }
  void settle() {
    Watch watch;
    for (index_t j = 0; j <= constant; ++j) {
      watch.tick();
      keep(j, course(j, *n_steps));
    }
  }
  void rebuild() {
    for (index_t j = 0; j <= constant; ++j) paid[j].step = *n_steps;
  }

 private:
  bool is_free(index_t j) const { return j == constant && free_constant; }
  double theta(double w, double step) const { return step == 0 ? 1 : w == 0 ? most : 1 / (std::fabs(w) + smoothing); }
  static double order_of(const Course& c) { return c.step == 0 ? 0 : std::fabs(c.gradient) / c.penalty; }
  double scale_at(double step) const { return step == 0 ? 0 : eta0 / std::sqrt(step); }
  double value(index_t j, const Course& c, double scale) const {
    const double least = is_free(j) ? 0 : cut(c.penalty, c.step);
    return std::fabs(c.gradient) <= least ? 0 : -scale * soft_threshold(c.gradient, least);
  }
  /// Of a weight that is not free.
  double cut(double penalty, double step) const { return alpha * penalty + (rho == 0 ? 0 : rho * std::sqrt(step) / eta0); }
  /// Weight j after `t` steps without a gradient since its last one.
  THRESHER_INLINE Course course(index_t j, double t) const {
    Course c{gradient_sum[j], paid[j].penalty, paid[j].step};
    if (c.step == t) return c;
    const double held = batch[j];  // of a mini-batch that is over
    if (is_free(j)) return {c.gradient + held, 0, t};
    if (held != 0 || c.step == 0) c = {c.gradient + held, c.penalty + theta(value(j, c, scale_at(c.step)), c.step), c.step + 1};
    return std::fabs(c.gradient) <= cut(c.penalty, c.step) ? rested(c, t) : moved(c, t);
  }
  /// The cut only rises: a weight that is 0 stays 0.
  Course rested(const Course& c, double t) const { return {c.gradient, c.penalty + (t - c.step) * most, t}; }
  /// A weight that is not 0, until it is: Theta as a polynomial of the step, summed. With
  /// W = w + rho = eta0 (|G| - alpha Q) / sqrt(t) and k = eta0 alpha / sqrt(t),
  ///
  ///     Theta' = -Theta^2 W',      W' = -k Q' - W / (2t),      Q' = Theta - Theta' / 2 + Theta'' / 12,
  ///
  /// the last of which makes a difference of a slope; and so on, by derivatives of sqrt(t) W. What is left out is less than 2e-10
  /// of the sum: of a square within 1/1024 of t and 1/2000 of w + smoothing, of a fourth power within 1/40 and 1/160.
  Course moved(Course c, double t) const {
    const double size = std::fabs(c.gradient);
    while (c.step < t) {
      const double root = 1 / std::sqrt(c.step), scale = eta0 * root, rest = size - cut(c.penalty, c.step);
      if (rest <= 0) return rested(c, t);
      const double w = scale * rest, th = 1 / (w + smoothing), u = root * root, k = scale * alpha, W = w + rho,
                   e = 0.5 * k * th * th;
      const double W1 = -(k * th + 0.5 * u * W) * (1 - e), p = th * W1, bend = k * p * th - u * (W1 - 0.25 * u * W);
      const double left = t - c.step;
      double n = 1;
      if (256 * e < 1) {
        if (1024 * left < c.step && -2000 * p * left < 1 && -W1 * left < 0.95 * w) {
          const double square = (p * p - 0.5 * th * bend) * (2 * left - 1) * (1. / 3);
          return {c.gradient, c.penalty + left * th + 0.5 * left * (left - 1) * th * (square - p), t};
        }
        n = std::min(left, c.step / 40);
        if (-160 * p * n > 1) n = 1 / (-160 * p);
        if (-W1 * n > 0.95 * w) n = 0.95 * w / -W1;
      }
      n = n < 2 ? 1 : static_cast<double>(static_cast<index_t>(n));
      c.penalty += n == 1 ? th : strides(n, th, u, k, W, e);
      c.step += n;
    }
    return c;
  }
  double strides(double n, double th, double u, double k, double W, double e) const {
    const double inverse = 1 - e + e * e - e * e * e, W1 = -(k * th + 0.5 * u * W) * inverse, p = th * W1;
    const double given2 = k * p * th - u * (W1 - 0.25 * u * W);  // W'', but for Theta'' / 2
    const double th2 = th * (2 * p * p - th * given2) * inverse, W2 = given2 + 0.5 * k * th2, q = th * W2;
    const double th1 = -th * (p - k * th * th2 * (1. / 12));
    const double W3 = -k * th2 - u * (1.5 * W2 - u * (0.75 * W1 - 0.375 * u * W)), r = th * W3;
    const double th3 = th * (6 * p * (q - p * p) - r);
    const double W4 = -k * th3 - u * (2 * W3 - u * (1.5 * W2 - u * (1.5 * W1 - 0.9375 * u * W)));
    const double th4 = th * (12 * p * p * (2 * p * p - 3 * q) + 6 * q * q + 8 * p * r - th * W4);
    const double pairs = 0.5 * n * (n - 1),
                 squares = pairs * (2 * n - 1) * (1. / 3);  // sums of s and s^2 over the steps, s^3 and s^4
    const double fourths = squares * (6 * pairs - 1) * (1. / 5);
    return n * th + th1 * pairs + 0.5 * th2 * squares + th3 * (1. / 6) * (pairs * pairs) + th4 * (1. / 24) * fourths;
  }
  void keep(index_t j, const Course& c) {
    if (Batch::waits) {
      gradient_sum[j] = c.gradient;
      if (c.step > paid[j].step) batch.clear(j);
    }
    paid[j] = {c.penalty, c.step};
  }
  double caught_up(index_t j, double scale) {
    // One that is 0 stays so until it has a gradient, and is brought up to date then.
    if (!Batch::waits && !is_free(j) && std::fabs(gradient_sum[j]) <= cut(paid[j].penalty, paid[j].step)) return 0;
    const Course c = course(j, *n_steps);
    if (Batch::waits || !is_free(j)) keep(j, c);
    return value(j, c, scale);
  }
};

template <class Batch>
using ReweightedL1Rda = Sparse<ReweightedL1RdaRule<Batch>>;

THRESHER_LEARNER(ReweightedL1Rda, "Dual averaging with a reweighted l1 penalty.", ReweightedL1Rda<AtOnce>)
THRESHER_LEARNER(ReweightedL1RdaBatch, "The same, a step for every batch_size rows.", ReweightedL1Rda<Waiting>)

}  // namespace thresher
