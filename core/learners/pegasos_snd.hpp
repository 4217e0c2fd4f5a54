#pragma once
#include <algorithm>
#include <cmath>

#include "../matrix_pass.hpp"
#include "../weight_rows.hpp"

namespace thresher {

/// Supervised novelty detection by Pegasos steps. Each of m classes has a score f_k = <w_k, x>. It should be above 1 on rows of
/// the class and below -1 on all others, also on rows of no class (code m). Weights of different classes repel one another:
///
///     alpha/2 sum_jk Gamma_jk <w_j, w_k> + mean_i weight_i sum_k [1 - Y_ik f_k(x_i)]_+,      Gamma = (coupling - 1) I + 11'
///
/// Gamma has two eigenvalues e: coupling - 1 on the differences of the classes from their mean, and coupling + m - 1 on the mean.
/// Let G be the mean of u x over a mini-batch, where u holds the targets of the violated constraints. On each part,
///
///     metric of Gamma   w <- (1 - 1/t) w + G / (alpha t e),   then into the ball  sum e |w|^2 <= mean weight m / alpha
///     as printed        w <- (1 - e/t) w + G / (alpha t),     then into the ball  sum |w|^2 <= mean weight m / (alpha max e)
///
/// The first ball holds the optimum; the second may not. Each part is stored as a scale times its part of V, with its squared
/// norm, so a row costs O(m) per non-zero.   Jumutc (2016), Algorithm 1.
template <class Rows>
struct PegasosSnd {
  static constexpr const char* outputs = "output";  // the axis of its outputs
  struct Part {
    double *scale, *square, eigenvalue;
    double *dot, *held;  // <w, G> and |G|^2 of an open mini-batch
    double gain = 0;     // of the current step
  };
  Rows v;
  double *n_steps, *weight_sum;
  index_t n_outputs, n_weights;
  Part apart, common;
  double alpha;
  bool printed, reject;
  std::vector<double> pull;  // u, then the change of V per unit of x_j
  bool crowded = false;      // a scale is negative or extreme, or the two differ so much that precision would be lost

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    std::vector<Field> all{{"coef", "weight output", 0.0, "mean"}, Field{"n_steps", "", 0.0, "sum"}.counts(),
                           {"weight_sum", "", 0.0, "sum"},         {"scale", "", 1.0, "derived"},
                           {"common_scale", "", 1.0, "derived"},   {"square", "", 0.0, "derived"},
                           {"common_square", "", 0.0, "derived"}};
    Rows::declare(all);
    return all;
  }
  template <class Source>
  explicit PegasosSnd(const Source& s)
      : v(s), n_steps(s.array("n_steps", "")), weight_sum(s.array("weight_sum", "")), n_outputs(v.n_outputs),
        n_weights(s.n_weights), apart(part(s, "scale", "square", "held_dot", "held_square", -1)),
        common(part(s, "common_scale", "common_square", "common_held_dot", "common_held_square",
                    static_cast<double>(n_outputs) - 1)),
        alpha(s.number("alpha")), printed(s.flag("printed")), reject(s.flag("reject")),
        pull(static_cast<std::size_t>(n_outputs)) {}

  index_t width() const { return n_outputs; }
  void open(const Item&) {}
  bool wants_settling() const { return crowded; }
  bool sound() const { return is_finite(apart) && is_finite(common); }

  template <class Row>
  THRESHER_APART void look(const Row& x, const Item&, double* out) const {
    std::fill(out, out + n_outputs, 0.0);
    x.each([&](index_t j, double xj) {
      for (index_t k = 0; k < n_outputs; ++k) out[k] += v.at(j, k) * xj;
    });
    scale_parts(out, *apart.scale, *common.scale);
  }
  template <class Row>
  THRESHER_APART void score(const Row& x, const Item& item, double* out) const {
    look(x, item, out);
  }
  void weights(index_t j, double* out) const {
    for (index_t k = 0; k < n_outputs; ++k) out[k] = v.at(j, k);
    scale_parts(out, *apart.scale, *common.scale);
  }
  /// The mean hinge loss over the classes.
  double loss(const double* out, const Item& item) const {
    double sum = 0;
    for (index_t k = 0; k < n_outputs; ++k) sum += std::max(0.0, 1 - target(k, item) * out[k]);
    return sum / static_cast<double>(n_outputs);
  }
  bool wrong(const double* out, const Item& item) const {
    const double* best = std::max_element(out, out + n_outputs);
    return (reject && *best <= 0 ? n_outputs : best - out) != item.code;
  }

  template <class Row>
  bool update(const Row& x, const Item& item, double* out) {
    const double m = static_cast<double>(n_outputs);
    *weight_sum += item.weight;
    double mean = 0, mean_score = 0, dot = 0, square = 0;
    for (index_t k = 0; k < n_outputs; ++k) {
      const double y = target(k, item);
      pull[k] = y * out[k] < 1 ? item.weight * y / v.size() : 0;
      dot += pull[k] * out[k];
      mean += pull[k] / m;
      mean_score += out[k] / m;
    }
    for (const double u : pull) square += (u - mean) * (u - mean);
    const bool moved = mean != 0 || square != 0;
    const double length = moved ? x.square() : 0, shared = m * mean * mean_score;
    if constexpr (Rows::waits) {
      *apart.dot += dot - shared;
      *common.dot += shared;
      *apart.held += square * length;
      *common.held += m * mean * mean * length;
      if (moved) hold_back(x, mean);
      ++*v.n_rows;
      if (++*v.count >= v.batch_size) take();
      return moved;
    }
    const double t = ++*n_steps;
    step(apart, t, dot - shared, square * length);
    step(common, t, shared, m * mean * mean * length);
    if (moved) {
      scale_parts(pull.data(), apart.gain / *apart.scale, common.gain / *common.scale);
      x.each([&](index_t j, double xj) {
        for (index_t k = 0; k < n_outputs; ++k) v.row(j)[k] += pull[k] * xj;
      });
    }
    project(m * *weight_sum / (alpha * t));
    return moved;
  }
  /// Completes the mini-batch with the rows it has.
  void finish() {
    if constexpr (Rows::waits) {
      if (*v.count == 0) return;
      const double factor = v.batch_size / *v.count;
      for (index_t j = 0; j < n_weights; ++j)
        if (v.open(j))
          for (index_t k = 0; k < n_outputs; ++k) v.held(j)[k] *= factor;
      for (Part* part : {&apart, &common}) {
        *part->dot *= factor;
        *part->held *= factor * factor;
      }
      take();
    }
  }
  /// Makes both scales 1, with nothing held back.
  void settle() {
    finish();
    v.settle();
    for (index_t j = 0; j < n_weights; ++j) scale_parts(v.row(j), *apart.scale, *common.scale);
    *apart.scale = *common.scale = 1;
    crowded = false;
  }
  /// Computes the norms of merged weights.
  void rebuild() {
    *apart.square = *common.square = 0;
    for (index_t j = 0; j < n_weights; ++j) {
      weights(j, pull.data());
      const double mean = mean_of(pull.data());
      *common.square += static_cast<double>(n_outputs) * mean * mean;
      for (const double w : pull) *apart.square += (w - mean) * (w - mean);
    }
  }

 private:
  template <class Source>
  static Part part(const Source& s, const char* scale, const char* square, const char* dot, const char* held, double more) {
    return {s.array(scale, ""), s.array(square, ""), s.number("coupling") + more, Rows::waits ? s.array(dot, "") : nullptr,
            Rows::waits ? s.array(held, "") : nullptr};
  }
  static bool is_finite(const Part& part) { return std::isfinite(*part.square) && (!part.held || std::isfinite(*part.held)); }
  double target(index_t k, const Item& item) const { return item.code == k ? 1.0 : -1.0; }
  double mean_of(const double* row) const {
    double sum = 0;
    for (index_t k = 0; k < n_outputs; ++k) sum += row[k];
    return sum / static_cast<double>(n_outputs);
  }
  void scale_parts(double* row, double by, double by_common) const {
    if (by == by_common) {
      for (index_t k = 0; k < n_outputs; ++k) row[k] *= by;
      return;
    }
    const double mean = mean_of(row);
    for (index_t k = 0; k < n_outputs; ++k) row[k] = by * (row[k] - mean) + by_common * mean;
  }
  /// The factor by which step t shrinks a part. The first step has no weights to shrink.
  double decay_at(const Part& part, double t) const { return t == 1 ? 1 : printed ? 1 - part.eigenvalue / t : 1 - 1 / t; }
  double gain_at(const Part& part, double t) const { return printed ? 1 / (alpha * t) : 1 / (alpha * t * part.eigenvalue); }
  /// Step t of one part: `dot` = <w, G>, `square` = |G|^2.
  void step(Part& part, double t, double dot, double square) {
    const double decay = decay_at(part, t);
    part.gain = gain_at(part, t);
    *part.square = std::max(0.0, decay * decay * *part.square + 2 * decay * part.gain * dot + part.gain * part.gain * square);
    if (decay == 0) forget(part);
    else *part.scale *= decay;
  }
  /// Sets a part to 0, which the printed form does at most once: at the step t that equals its eigenvalue.
  void forget(const Part& part) {
    for (index_t j = 0; j < n_weights; ++j) {
      if (!v.open(j)) v.fold(j);
      scale_parts(v.row(j), &part != &apart, &part != &common);
    }
  }
  /// The change of V per unit of G in the next step.
  double rate(const Part& part) const {
    const double t = *n_steps + 1, decay = decay_at(part, t);
    return gain_at(part, t) / (decay == 0 ? *part.scale : *part.scale * decay);
  }
  /// Adds u x to G, which is held as the pending change of V. `mean` is the mean of u.
  template <class Row>
  void hold_back(const Row& x, double mean) {
    const double by = rate(apart), by_common = rate(common);
    double together = 0, in_common = 0;  // <G, u x> on each part, in units of V
    x.each([&](index_t j, double xj) {
      if (xj == 0) return;
      const double* held = v.opened(j);
      const double level = mean_of(held);
      for (index_t k = 0; k < n_outputs; ++k) together += xj * (held[k] - level) * (pull[k] - mean);
      in_common += xj * level * mean;
    });
    *apart.held += 2 * together / by;
    *common.held += 2 * static_cast<double>(n_outputs) * in_common / by_common;
    scale_parts(pull.data(), by, by_common);
    x.each([&](index_t j, double xj) {
      if (xj == 0) return;
      for (index_t k = 0; k < n_outputs; ++k) v.held(j)[k] += pull[k] * xj;
    });
  }
  /// Takes the step of a mini-batch.
  void take() {
    const double t = ++*n_steps;
    for (Part* part : {&apart, &common}) {
      step(*part, t, *part->dot, *part->held);
      *part->dot = *part->held = 0;
    }
    v.next_batch();
    project(static_cast<double>(n_outputs) * *weight_sum / (alpha * *v.n_rows));
  }
  void project(double square_radius) {
    const double square = printed ? *apart.square + *common.square
                                  : apart.eigenvalue * *apart.square + common.eigenvalue * *common.square;
    if (printed) square_radius /= common.eigenvalue;
    if (square > square_radius) {
      const double factor = std::sqrt(square_radius / square);
      for (Part* part : {&apart, &common}) {
        *part->scale *= factor;
        *part->square *= factor * factor;
      }
    }
    const double a = *apart.scale, c = *common.scale;  // negative after early steps of the printed form, which model files reject
    crowded = std::min(a, c) < 1e-150 || std::max(a, c) > 1e150 || a > 1e3 * c || c > 1e3 * a;
  }
};

THRESHER_LEARNER(PegasosSnd, "Pegasos for classes, and rows that belong to none of them.", PegasosSnd<RowsAtOnce>)
THRESHER_LEARNER(PegasosSndBatch, "The same, a step for every batch_size rows.", PegasosSnd<RowsHeldBack>)

}  // namespace thresher
