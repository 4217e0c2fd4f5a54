#pragma once
#include <algorithm>
#include <cmath>

#include "../matrix_pass.hpp"

namespace thresher {

/// Supervised novelty detection by steps of Pegasos. Each of m classes has a score f_k = <w_k, x>, wanted above 1 on its own rows and
/// below -1 on all others; a row of no class (code m) is wanted below -1 by all of them. Weights of different classes repel one another:
///
///     alpha/2 sum_jk Gamma_jk <w_j, w_k> + mean_i weight_i sum_k [1 - Y_ik f_k(x_i)]_+,      Gamma = (coupling - 1) I + 11'
///
/// Gamma has two eigenvalues e: coupling - 1 on what tells classes apart, coupling + m - 1 on what they have in common. On each part,
/// with u the targets of the violated constraints,
///
///     in the metric of Gamma   w <- (1 - 1/t) w + u x / (alpha t e),   then into the ball  sum e |w|^2 <= mean weight m / alpha
///     as printed               w <- (1 - e/t) w + u x / (alpha t),     then into the ball  sum |w|^2 <= mean weight m / (alpha max e)
///
/// The first ball holds the optimum, the second need not. A part is kept as a scale times its part of V, and its squared norm along
/// with it: a row costs O(m) for each of its non-zeros.   Jumutc (2016), Algorithm 1.
struct PegasosSnd {
  static constexpr const char* outputs = "output";  // the axis of its outputs
  struct Part {
    double *scale, *square, eigenvalue;
    double gain = 0;  // of the step under way
  };
  double *coef, *n_steps, *weight_sum;
  index_t n_outputs, n_weights;
  Part apart, common;
  double alpha;
  bool printed, reject;
  std::vector<double> pull;  // u, then what a value of 1 adds to V
  bool crowded = false;      // scales shrank or drifted apart so far that digits would be lost, or changed sign

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {{"coef", "weight output", 0.0, "mean"}, {"n_steps", "", 0.0, "sum"},          {"weight_sum", "", 0.0, "sum"},
            {"scale", "", 1.0, "derived"},          {"common_scale", "", 1.0, "derived"}, {"square", "", 0.0, "derived"},
            {"common_square", "", 0.0, "derived"}};
  }
  template <class Source>
  explicit PegasosSnd(const Source& s)
      : coef(s.array("coef", "weight output")), n_steps(s.array("n_steps", "")), weight_sum(s.array("weight_sum", "")),
        n_outputs(s.extent("output")), n_weights(s.n_weights),
        apart{s.array("scale", ""), s.array("square", ""), s.number("coupling") - 1},
        common{s.array("common_scale", ""), s.array("common_square", ""),
               s.number("coupling") + static_cast<double>(n_outputs) - 1},
        alpha(s.number("alpha")), printed(s.flag("printed")), reject(s.flag("reject")),
        pull(static_cast<std::size_t>(n_outputs)) {}

  index_t width() const { return n_outputs; }
  void open(const Item&) {}
  bool wants_settling() const { return crowded; }
  bool sound() const { return std::isfinite(*apart.square) && std::isfinite(*common.square); }

  template <class Row>
  void look(const Row& x, const Item&, double* out) const {
    std::fill(out, out + n_outputs, 0.0);
    x.each([&](index_t j, double xj) {
      for (index_t k = 0; k < n_outputs; ++k) out[k] += row(j)[k] * xj;
    });
    scale_parts(out, *apart.scale, *common.scale);
  }
  template <class Row>
  void score(const Row& x, const Item& item, double* out) const {
    look(x, item, out);
  }
  void weights(index_t j, double* out) const {
    std::copy(row(j), row(j) + n_outputs, out);
    scale_parts(out, *apart.scale, *common.scale);
  }
  /// The mean over the classes.
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
    const double m = static_cast<double>(n_outputs), t = ++*n_steps;
    *weight_sum += item.weight;
    double mean = 0, mean_score = 0, dot = 0, square = 0;
    for (index_t k = 0; k < n_outputs; ++k) {
      const double y = target(k, item);
      pull[k] = y * out[k] < 1 ? item.weight * y : 0;
      dot += pull[k] * out[k];
      mean += pull[k] / m;
      mean_score += out[k] / m;
    }
    for (const double u : pull) square += (u - mean) * (u - mean);
    const bool moved = mean != 0 || square != 0;
    const double length = moved ? x.square() : 0, shared = m * mean * mean_score;
    step(apart, t, dot - shared, square * length);
    step(common, t, shared, m * mean * mean * length);
    if (moved) {
      scale_parts(pull.data(), apart.gain / *apart.scale, common.gain / *common.scale);
      x.each([&](index_t j, double xj) {
        for (index_t k = 0; k < n_outputs; ++k) row(j)[k] += pull[k] * xj;
      });
    }
    project(m * *weight_sum / (alpha * t));
    return moved;
  }
  /// Both scales 1.
  void settle() {
    for (index_t j = 0; j < n_weights; ++j) scale_parts(row(j), *apart.scale, *common.scale);
    *apart.scale = *common.scale = 1;
    crowded = false;
  }
  /// The norms of merged weights.
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
  double* row(index_t j) const { return coef + j * n_outputs; }
  double target(index_t k, const Item& item) const { return item.code == k ? 1.0 : -1.0; }
  double mean_of(const double* v) const {
    double sum = 0;
    for (index_t k = 0; k < n_outputs; ++k) sum += v[k];
    return sum / static_cast<double>(n_outputs);
  }
  void scale_parts(double* v, double by, double by_common) const {
    if (by == by_common) {
      for (index_t k = 0; k < n_outputs; ++k) v[k] *= by;
      return;
    }
    const double mean = mean_of(v);
    for (index_t k = 0; k < n_outputs; ++k) v[k] = by * (v[k] - mean) + by_common * mean;
  }
  /// Step t of one part: `dot` = <w, u x>, `square` = |u x|^2. There are no weights yet that the first one could shrink.
  void step(Part& part, double t, double dot, double square) {
    const double decay = t == 1 ? 1 : printed ? 1 - part.eigenvalue / t : 1 - 1 / t;
    part.gain = printed ? 1 / (alpha * t) : 1 / (alpha * t * part.eigenvalue);
    *part.square = std::max(0.0, decay * decay * *part.square + 2 * decay * part.gain * dot + part.gain * part.gain * square);
    if (decay == 0) forget(part);
    else *part.scale *= decay;
  }
  /// A part that a step of the printed form takes away whole: once in a stream, when t is its eigenvalue.
  void forget(const Part& part) {
    for (index_t j = 0; j < n_weights; ++j) scale_parts(row(j), &part != &apart, &part != &common);
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
    const double a = *apart.scale, c = *common.scale;  // below 0 after early steps of the printed form, which files do not hold
    crowded = std::min(a, c) < 1e-150 || std::max(a, c) > 1e150 || a > 1e3 * c || c > 1e3 * a;
  }
};

THRESHER_LEARNER(PegasosSnd, "Pegasos for classes, and rows that belong to none of them.", PegasosSnd)

}  // namespace thresher
