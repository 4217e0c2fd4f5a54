// The reweighted l1 penalty of weights without gradients, over all their overdue steps.
#pragma once
#include <algorithm>
#include <cmath>

#include "lanes.hpp"
#include "rows.hpp"

namespace thresher {

/// The penalty sum Q of a weight whose gradient sum G is constant. Each step adds Theta = 1 / (|w| + smoothing), a constant once
/// the weight is 0. Until then, Theta is approximated by a polynomial in the step, which is summed in closed form.
/// With W = |w| + rho = eta0 (|G| - alpha Q) / sqrt(t) and k = eta0 alpha / sqrt(t),
///
///     Theta' = -Theta^2 W',      W' = -k Q' - W / (2t),      Q' = Theta - Theta' / 2 + Theta'' / 12,
///
/// where the last equation turns a difference into a derivative. Higher derivatives follow from those of sqrt(t) W. The
/// truncation error is about 2e-10 of the sum. A polynomial of degree 2 serves for up to t / 1024 steps that change
/// w + smoothing by at most 1/2000. One of degree 6 serves for up to t / 12 steps in which the penalty, or rho, takes at most
/// 1/170 of w + smoothing.
///
/// The functions are templates of V, one weight or a lane of weights. The bits of a weight do not depend on the rest of its lane.
struct RisingPenalty {
  struct Paid { double penalty, step; };  // Q after `step` steps
  double alpha, eta0, rho, smoothing, most;

  RisingPenalty(double a, double eta, double r, double s) : alpha(a), eta0(eta), rho(r), smoothing(s), most(1 / s) {}

  /// A weight is 0 if |G| is at most this.
  double cut(double penalty, double step) const { return alpha * penalty + (rho == 0 ? 0 : rho * std::sqrt(step) / eta0); }
  /// Q after t steps, for a weight that is not 0 and has overdue steps.
  Paid after(double t, double size, Paid paid) const {
    Owed<double> now{size, paid.penalty, paid.step};
    bool is_near;
    look_near(now, t, paid.penalty, is_near);
    if (is_near) return {paid.penalty, t};
    while (now.step < t) go_on(now, t);
    return {now.penalty, t};
  }
  /// The same, in place, for n weights js[0], ..., js[n - 1] with gradient sums g, where n is at most `few`.
  static constexpr int few = 64;
  void bring_up(const double* g, Paid* paid, const index_t* js, int n, double t) const {
    static const bool wide = is_wide();
    if (wide) bring_up_wide(g, paid, js, n, t);
    else bring_up_all<double>(g, paid, js, n, t);
  }

 private:
  /// |G|, Q and the step.
  template <class V> struct Owed { V size, penalty, step; };
  template <class V> struct Slopes { V left, u, k, w, W, W1, th, e, p; };

  template <class V>
  THRESHER_INLINE void slopes(const Owed<V>& now, double t, Slopes<V>& s) const {
    V steps;
    take_root(steps, now.step);
    const V root = 1.0 / steps, scale = eta0 * root;
    V least = alpha * now.penalty;
    if (rho != 0) least += rho * steps / eta0;
    s.w = scale * (now.size - least), s.th = 1.0 / (s.w + smoothing), s.u = root * root, s.k = scale * alpha, s.W = s.w + rho;
    s.e = 0.5 * s.k * s.th * s.th;
    s.W1 = -(s.k * s.th + 0.5 * s.u * s.W) * (1.0 - s.e), s.p = s.th * s.W1, s.left = t - now.step;
  }
  /// Whether the polynomial of degree 2 serves for all steps up to t. Then, `penalty` is Q after them.
  template <class V>
  THRESHER_INLINE void look_near(const Owed<V>& now, double t, V& penalty, typename LaneOf<V>::Mask& is_near) const {
    Slopes<V> s;
    slopes(now, t, s);
    const V bend = s.k * s.p * s.th - s.u * (s.W1 - 0.25 * s.u * s.W);
    const V square = (s.p * s.p - 0.5 * s.th * bend) * (2.0 * s.left - 1.0) * (1. / 3);
    penalty = now.penalty + s.left * s.th + 0.5 * s.left * (s.left - 1.0) * s.th * (square - s.p);
    is_near = (256.0 * s.e < 1.0) & (1024.0 * s.left < now.step) & (-2000.0 * s.p * s.left < 1.0) & (-s.W1 * s.left < 0.95 * s.w);
  }
  /// Takes one step, or as many as the polynomial of degree 6 serves for, or all of them if the weight is 0.
  template <class V>
  THRESHER_INLINE void go_on(Owed<V>& now, double t) const {
    Slopes<V> s;
    slopes(now, t, s);
    const V over = s.W * s.th - 1.0, turn = 170.0 * (s.k * s.th * s.th + 0.5 * s.u * (over > 0.0 ? over : V()));
    V n = (1. / 12) * (now.step - 48.0);
    n = n < s.left ? n : s.left;
    n = turn * n > 1.0 ? 1.0 / turn : n;
    n = -s.W1 * n > 0.95 * s.w ? 0.95 * s.w / -s.W1 : n;
    round_down(n);
    const typename LaneOf<V>::Mask strides = (256.0 * s.e < 1.0) & (n >= 2.0), rests = s.w <= 0.0;
    V sum;
    powers(s, n, sum);
    n = strides ? n : V() + 1.0;
    sum = strides ? sum : s.th;
    now.step = rests ? V() + t : now.step + n;
    now.penalty += rests ? s.left * most : sum;
  }
  /// The sum of Theta over n steps.
  template <class V>
  THRESHER_INLINE void powers(const Slopes<V>& s, const V& n, V& sum) const {
    const V th = s.th, u = s.u, k = s.k, W = s.W, e = s.e;
    const V inverse = 1.0 - e + e * e - e * e * e, W1 = -(k * th + 0.5 * u * W) * inverse, p = th * W1;
    const V given2 = k * p * th - u * (W1 - 0.25 * u * W);  // W'' without its term of Theta''
    const V th2 = th * (2.0 * p * p - th * given2) * inverse, W2 = given2 + 0.5 * k * th2, q = th * W2;
    const V th1 = -th * (p - k * th * th2 * (1. / 12));
    const V given3 = -k * th2 - u * (1.5 * W2 - u * (0.75 * W1 - 0.375 * u * W));  // W''' without its term of Theta'''
    const V th3 = th * (6.0 * p * (q - p * p) - th * given3) * inverse, W3 = given3 + 0.5 * k * th3;
    const V given4 = -k * th3 - u * (2.0 * W3 - u * (1.5 * W2 - u * (1.5 * W1 - 0.9375 * u * W)));
    const V th4 = -th * (4.0 * W1 * th3 + 6.0 * W2 * th2 + 4.0 * W3 * th1 + given4 * th) * inverse, W4 = given4 + 0.5 * k * th4;
    const V W5 = -k * th4 - u * (2.5 * W4 - u * (2.5 * W3 - u * (3.75 * W2 - u * (4.6875 * W1 - 3.28125 * u * W))));
    const V th5 = -th * (5.0 * (W1 * th4 + W4 * th1) + 10.0 * (W2 * th3 + W3 * th2) + W5 * th);
    const V W6 = -k * th5 -
                 u * (3.0 * W5 - u * (3.75 * W4 - u * (7.5 * W3 - u * (14.0625 * W2 - u * (19.6875 * W1 - 14.765625 * u * W)))));
    const V th6 = -th * (6.0 * (W1 * th5 + W5 * th1) + 15.0 * (W2 * th4 + W4 * th2) + 20.0 * W3 * th3 + W6 * th);
    const V firsts = 0.5 * n * (n - 1.0),
            squares = firsts * (2.0 * n - 1.0) * (1. / 3);  // sums of s, s^2, ..., s^6 over the steps
    const V cubes = firsts * firsts, fourths = squares * (6.0 * firsts - 1.0) * (1. / 5);
    const V fifths = cubes * (4.0 * firsts - 1.0) * (1. / 3);
    const V sixths = squares * (12.0 * cubes - 6.0 * firsts + 1.0) * (1. / 7);
    sum = n * th + th1 * firsts + 0.5 * th2 * squares + th3 * (1. / 6) * cubes + th4 * (1. / 24) * fourths +
          th5 * (1. / 120) * fifths + th6 * (1. / 720) * sixths;
  }

  THRESHER_AVX2 void bring_up_wide(const double* g, Paid* paid, const index_t* js, int n, double t) const {
    bring_up_all<Widest>(g, paid, js, n, t);
  }
  template <class V>
  THRESHER_INLINE void bring_up_all(const double* g, Paid* paid, const index_t* js, int n, double t) const {
    constexpr int N = LaneOf<V>::width;
    index_t far[few];
    int n_far = 0;
    for (int i = 0; i < n; i += N) {
      double at[3][N], penalties[N];
      index_t who[N];
      for (int l = 0; l < N; ++l) {
        who[l] = js[std::min(i + l, n - 1)];
        at[0][l] = std::fabs(g[who[l]]), at[1][l] = paid[who[l]].penalty, at[2][l] = paid[who[l]].step;
      }
      Owed<V> now;
      V penalty;
      std::memcpy(&now, at, sizeof now);
      typename LaneOf<V>::Mask near;
      look_near(now, t, penalty, near);
      std::memcpy(penalties, &penalty, sizeof penalty);
      for (int l = 0; l < N && i + l < n; ++l) {
        const bool is = entry(near, l);
        paid[who[l]] = {choose(is, penalties[l], at[1][l]), choose(is, t, at[2][l])};
        far[n_far] = who[l];
        n_far += !is;
      }
    }
    bring_far<V>(g, paid, far, n_far, t);
  }
  /// Each place of a lane takes the next weight as soon as it has finished one.
  template <class V>
  THRESHER_INLINE void bring_far(const double* g, Paid* paid, const index_t* js, int n, double t) const {
    constexpr int N = LaneOf<V>::width;
    double size[N], penalty[N], step[N];
    index_t who[N];
    int next = 0, n_left = n;
    for (int l = 0; l < N; ++l) who[l] = -1, size[l] = penalty[l] = 0, step[l] = t;
    while (n_left > 0) {
      for (int l = 0; l < N; ++l) {
        if (step[l] < t) continue;
        if (who[l] >= 0) paid[who[l]] = {penalty[l], t}, --n_left;
        who[l] = next < n ? js[next++] : -1;
        if (who[l] >= 0) size[l] = std::fabs(g[who[l]]), penalty[l] = paid[who[l]].penalty, step[l] = paid[who[l]].step;
      }
      Owed<V> now;
      std::memcpy(&now.size, size, sizeof size);
      std::memcpy(&now.penalty, penalty, sizeof penalty);
      std::memcpy(&now.step, step, sizeof step);
      go_on(now, t);
      std::memcpy(penalty, &now.penalty, sizeof penalty);
      std::memcpy(step, &now.step, sizeof step);
    }
  }
};

}  // namespace thresher
