#pragma once
#include <cmath>

#include "../lanes.hpp"
#include "../loss.hpp"
#include "../strides.hpp"
#include "../watch.hpp"
#include "../weights.hpp"

namespace thresher {

/// Dual averaging with an l2 penalty that is reweighted in every step, to approximate the number of non-zero weights.
///
///     w_{t+1} = -G_t / R_t,   R_t = alpha t + sum_{s <= t} Theta_s,   Theta_1 = 1,   Theta_{t+1} = 1 / (w_{t+1}^2 + smoothing)
///
/// G sums the mean gradients of mini-batches. No weight becomes exactly 0: predictions leave out those of size at most
/// `threshold`. A weight without gradients follows R <- R + phi(R), phi = alpha + R^2 / (smoothing R^2 + G^2). If G = 0, n
/// steps add n phi. Otherwise, steps that hardly change R, as most overdue steps do, add a cubic in their number:
///
///     R_n = R + n phi + C(n, 2) phi phi' + C(n, 3) phi phi'^2 + (n (n - 1) (2n - 1) / 12) phi^2 phi''.
///
/// Other steps are taken one by one while they are large and uneven, then at once by the flow of the recursion with its first
/// corrections,
///
///     tau(R) = integral of 1 / phi  +  log(phi) / 2  -  phi' / 12,      tau(R_n) = tau(R_0) + n      (Newton).
///
/// Both have an error of about 1e-8 of R. If the flow is still too inaccurate after 16384 single steps, strides by the midpoint
/// rule follow.
///
/// The constant feature is treated like the others, except for the threshold.   Jumutc (2016), Algorithm 10.
template <class Batch>
struct ReweightedL2Rda : Plain {
  /// R of a weight after `step` steps.
  struct Course { double denominator, step; };
  double *gradient_sum, *n_steps;
  Course* courses;
  Batch batch;
  double alpha, smoothing, threshold;
  index_t constant;
  const Loss& criterion;
  static constexpr int few = 64;  // weights that are processed together
  bool wide = is_wide();
  static constexpr double kRough = 3e-8;  // jumped() needs a roughness below this, about ten times its error

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    std::vector<Field> all{Field{"n_steps", "", 0.0, "sum"}.counts(),
                           {"gradient_sum", "weight", 0.0, "sum"},
                           {"denominator", "weight", 0.0, "sum"},
                           Field{"last_step", "weight", 0.0, "derived", "", "denominator", "steps"}.counts("n_steps")};
    Batch::declare(all);
    return all;
  }
  template <class Source>
  explicit ReweightedL2Rda(const Source& s)
      : gradient_sum(s.array("gradient_sum", "weight")), n_steps(s.array("n_steps", "")),
        courses(reinterpret_cast<Course*>(s.pair("denominator", "last_step"))), batch(s), alpha(s.number("alpha")),
        smoothing(s.number("smoothing")), threshold(s.number("threshold")), constant(s.n_weights - 1), criterion(s.loss()) {}

  template <class Row>
  double margin(const Row& x) {
    x.each([&](index_t j, double) {  // three numbers per weight exceed the nearest caches
      prefetch_line(courses + j);
      prefetch_line(gradient_sum + j);
    }, nothing);
    if constexpr (Batch::waits) return x.sum([&](index_t j, double xj) { return xj == 0 ? 0 : caught_up(j) * xj; });
    if (*n_steps == 0) return 0 * x.square();
    each_few(x, [&](const Value* some, int n) { wide ? bring_up_wide(some, n) : bring_up<double>(some, n); });
    return x.sum([&](index_t j, double xj) { return xj == 0 ? 0 : -gradient_sum[j] / courses[j].denominator * xj; });
  }
  double weight(index_t j) const {
    const double w = value(gradient(j), course(j));
    return j != constant && std::fabs(w) <= threshold ? 0 : w;
  }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double slope = criterion.step(margin, y, weight, [&] {
      return x.sum([&](index_t j, double xj) { return xj == 0 ? 0 : xj * xj / next(j).denominator; });
    }) / batch.batch_size;
    if constexpr (Batch::waits) {
      if (slope != 0)
        x.each([&](index_t j, double xj) {  // margin() has brought every j up to date
          if (xj != 0) batch.add(j, slope * xj);
        });
    } else if (slope != 0) {
      each_few(x, [&](const Value* some, int n) { wide ? step_wide(some, n, slope) : step_all<double>(some, n, slope); });
    }
    if (batch.row_completes_batch()) step();
    return slope != 0;
  }
  void finish() {
    if (batch.finish(constant + 1, [&](index_t j) { return courses[j].step == *n_steps; })) step();
  }
  void settle() {
    finish();
    Watch watch;
    for (index_t j = 0; j <= constant; ++j) {
      watch.tick();
      keep(j, course(j));
    }
  }
  void rebuild() {
    for (index_t j = 0; j <= constant; ++j) courses[j].step = *n_steps;
  }

 private:
  void step() {
    ++*n_steps;
    batch.next_batch();
  }
  struct Value {
    index_t j;
    double x;
  };
  /// Calls act(values, n) for the non-zeros of a row, at most `few` at a time.
  template <class Row, class Act>
  static void each_few(const Row& x, Act act) {
    Value values[few];
    int n = 0;
    x.each([&](index_t j, double xj) {
      values[n] = {j, xj};
      n += xj != 0;
      if (n == few) act(values, n), n = 0;
    });
    act(values, n);
  }
  static double value(double gradient, const Course& c) { return c.step == 0 ? 0 : -gradient / c.denominator; }
  Course stepped(double gradient, const Course& c) const {
    const double w = value(gradient, c), theta = c.step == 0 ? 1 : 1 / (w * w + smoothing);
    return {c.denominator + alpha + theta, c.step + 1};
  }
  Course next(index_t j) const { return stepped(gradient_sum[j], courses[j]); }  // of a weight that is up to date
  /// The gradient sum, including what a finished mini-batch held back.
  double gradient(index_t j) const {
    return Batch::waits && courses[j].step < *n_steps ? gradient_sum[j] + batch[j] : gradient_sum[j];
  }
  THRESHER_INLINE Course course(index_t j) const {
    const double g = gradient(j), t = *n_steps;
    Course c = courses[j];
    if ((c.step == 0 || batch[j] != 0) && c.step < t) c = stepped(gradient_sum[j], c);
    if (g == 0) return {c.denominator + (t - c.step) * (alpha + 1 / smoothing), t};
    bool is_near;
    near(g, t - c.step, c.denominator, is_near);
    return is_near ? Course{c.denominator, t} : far(g, c, t);
  }
  /// Takes all n steps at once if the cubic is accurate to about 1e-10 of R. Let x = n phi / R, the relative growth of R. The
  /// remainder is about x^4 / 2 times R phi' / phi, because the poles of phi are at least R away.
  template <class V>
  THRESHER_INLINE void near(const V& g, const V& n, V& r, typename LaneOf<V>::Mask& is_near) const {
    const V per_r = 1.0 / r, q = g * per_r, square = q * q, theta = 1.0 / (smoothing + square);
    const V rise = alpha + theta, x = n * rise * per_r, turn = 2.0 * square * theta * theta;  // turn is R phi'
    const V first = turn * per_r, second = first * per_r * (4.0 * square * theta - 3.0), pairs = 0.5 * n * (n - 1.0);
    const V to = r + n * rise +
                 rise * pairs * (first + (n - 2.0) * (1. / 3) * first * first + (2.0 * n - 1.0) * (1. / 6) * rise * second);
    is_near = x * x * x * n * per_r * turn < 2e-10;
    r = is_near ? to : r;
  }
  THRESHER_AVX2 void bring_up_wide(const Value* some, int n) { bring_up<Widest>(some, n); }
  template <class V>
  THRESHER_INLINE void bring_up(const Value* some, int n) {
    constexpr int N = LaneOf<V>::width;
    const double t = *n_steps;
    for (int i = 0; i < n; i += N) {
      double gs[N], owed[N], rs[N];
      for (int l = 0; l < N; ++l) {
        const index_t j = some[std::min(i + l, n - 1)].j;
        gs[l] = gradient_sum[j], owed[l] = t - courses[j].step, rs[l] = courses[j].denominator;
      }
      V g, left, r;
      std::memcpy(&g, gs, sizeof g), std::memcpy(&left, owed, sizeof left), std::memcpy(&r, rs, sizeof r);
      typename LaneOf<V>::Mask is_near;
      near(g, left, r, is_near);
      std::memcpy(rs, &r, sizeof r);
      for (int l = 0; l < N && i + l < n; ++l) {
        const index_t j = some[i + l].j;
        courses[j] = THRESHER_LIKELY(entry(is_near, l)) ? Course{rs[l], t} : course(j);
      }
    }
  }
  THRESHER_AVX2 void step_wide(const Value* some, int n, double slope) { step_all<Widest>(some, n, slope); }
  /// Takes one step with a gradient, of weights that are up to date.
  template <class V>
  THRESHER_INLINE void step_all(const Value* some, int n, double slope) {
    constexpr int N = LaneOf<V>::width;
    const double t = *n_steps;
    for (int i = 0; i < n; i += N) {
      double gs[N], rs[N];
      for (int l = 0; l < N; ++l) {
        const index_t j = some[std::min(i + l, n - 1)].j;
        gs[l] = gradient_sum[j], rs[l] = courses[j].denominator;
      }
      V g, r;
      std::memcpy(&g, gs, sizeof g), std::memcpy(&r, rs, sizeof r);
      const V w = g / r;
      r = r + alpha + (t == 0 ? V() + 1.0 : 1.0 / (w * w + smoothing));
      std::memcpy(rs, &r, sizeof r);
      for (int l = 0; l < N && i + l < n; ++l) {
        const Value& at = some[i + l];
        courses[at.j] = {rs[l], t + 1};
        gradient_sum[at.j] = gs[l] + slope * at.x;
      }
    }
  }
  Course far(double g, Course c, double t) const {
    const double from = c.step;
    while (c.step < t) {
      if (t - c.step > 8 && roughness(g, c.denominator) < kRough) return {jumped(g, c.denominator, t - c.step), t};
      const double n = stride(c.step - from, t - c.step);
      c = n == 1 ? stepped(g, c) : strode(g, c, n);
    }
    return c;
  }
  /// Takes at most n steps, as many as hardly change R.
  Course strode(double g, const Course& c, double n) const {
    const double rise = phi(g, c.denominator), most = c.denominator / 256;
    if (n * rise > most) n = std::max(1.0, std::floor(most / rise));
    return {c.denominator + n * phi(g, c.denominator + n / 2 * rise), c.step + n};
  }
  double phi(double g, double r) const { return alpha + 1 / (smoothing + (g / r) * (g / r)); }
  double bend(double g, double r) const {  // phi'
    const double q = g / r, below = smoothing + q * q;
    return 2 * q * q / (r * below * below);
  }
  /// An upper bound on phi' phi / R from r on, the size of the corrections that the flow leaves out. Both phi' and phi / R
  /// fall beyond |G| / sqrt(smoothing); before it, they are bounded by their peaks.
  double roughness(double g, double r) const {
    const double peak = std::fabs(g) / std::sqrt(smoothing);
    if (r >= peak) return bend(g, r) * phi(g, r) / r;
    const double half = 0.5 / (smoothing * peak);  // peak of (phi - alpha) / R; that of phi' is 1.3 times as high
    return 1.3 * half * (alpha / r + half);
  }
  /// R after n steps from r0: tau(R) - tau(r0) = n, with differences written so that nothing cancels.
  double jumped(double g, double r0, double n) const {
    const double a = 1 + alpha * smoothing, size = std::fabs(g), c = std::sqrt(a * alpha);
    const double least = phi(g, r0);
    double r = r0 + n * least;
    for (int i = 0; i < 50; ++i) {
      const double now = phi(g, r), turn = std::atan(c * size * (r - r0) / (alpha * size * size + a * r * r0));
      const double lived = smoothing * (r - r0) / a + size / (a * c) * turn + 0.5 * std::log(now / least) -
                           (bend(g, r) - bend(g, r0)) / 12;
      const double move = (n - lived) / (1 / now + 0.5 * bend(g, r) / now);
      r += move;
      if (std::fabs(move) <= 1e-14 * r) break;
    }
    return r;
  }
  void keep(index_t j, const Course& c) {
    if (Batch::waits) {
      gradient_sum[j] = gradient(j);
      if (c.step > courses[j].step) batch.clear(j);
    }
    courses[j] = c;
  }
  double caught_up(index_t j) {
    const Course c = course(j);
    keep(j, c);
    return value(gradient_sum[j], c);
  }
};

THRESHER_LEARNER(ReweightedL2Rda, "Dual averaging with a reweighted l2 penalty.", ReweightedL2Rda<AtOnce>)
THRESHER_LEARNER(ReweightedL2RdaBatch, "The same, a step for every batch_size rows.", ReweightedL2Rda<Waiting>)

}  // namespace thresher
