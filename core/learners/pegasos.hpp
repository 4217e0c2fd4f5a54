#pragma once
#include <algorithm>
#include <cmath>
#include <optional>
#include <type_traits>

#include "../joint_of.hpp"
#include "../loss.hpp"
#include "../mean_constant.hpp"
#include "../weights.hpp"

namespace thresher {

/// Pegasos: subgradient steps of length 1 / t on  |w|_A^2 / 2 + mean loss,  where |w|_A^2 = sum_j alpha_j w_j^2.
///
///     w <- (1 - 1/t) w - (1/t) A^-1 g_t,      then projection on the ball  |w|_A^2 <= mean pull,  which holds the optimum
///
/// g_t is the mean subgradient of a mini-batch. With one alpha for all features this is the published method; with one alpha
/// per feature it is that method on features divided by sqrt(alpha_j). Weights are stored as w = scale v, so shrinkage and
/// projection cost O(1), and |w|_A^2 is updated with them: a row costs O(non-zeros).
/// The constant is a feature, whose weight may be free of penalty and projection, or derives from the means of rows and targets.
/// The mean of all iterates is (area v - offset) / t, where area = sum of scales and offset accumulates area * change. With
/// `late`, iterate t has weight t: early iterates are far from the optimum, and this mean is closer by a factor of log t.
/// Shalev-Shwartz et al., Math. Prog. 127 (2011), Fig. 2; all losses: Jumutc (2016), Algorithm 5; late iterates: Lacoste-Julien,
/// Schmidt and Bach (2012).
template <class Sums>
struct Pegasos {
  Sums v;
  double *n_steps, *scale, *square_norm, *cross, *held_square, *area, *constant_area, *pull_sum, *n_rows;
  double* mass;                  // with `late`: the total weight of the iterates in the mean
  const double* inverse_alphas;  // one per weight, or null
  double inverse_alpha;
  bool projection, free_constant;
  index_t constant, n_weights;
  const Loss& criterion;
  std::optional<MeanConstant> means;  // instead of a constant feature
  double level = 0, mean_level = 0;   // the constant from `means`, for the last iterate and for the mean
  bool crowded = false;               // the scale is so small that precision would be lost

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all{Field{"n_steps", "", 0.0, "sum"}.counts(), {"scale", "", 1.0, "derived"},
                           {"square_norm", "", 0.0, "derived"},       {"cross", "", 0.0, "derived"},
                           {"held_square", "", 0.0, "derived"},       {"area", "", 0.0, "derived"},
                           {"constant_area", "", 0.0, "derived"},     {"pull_sum", "", 0.0, "sum"},
                           Field{"n_rows", "", 0.0, "sum"}.counts()};
    Sums::declare(all, "coef", "mean", s.flag("average"));
    if (s.flag("late")) all.push_back({"mass", "", 0.0, "sum"});
    if (s.flag("mean_constant")) MeanConstant::declare(all, s.flag("batch_constant"));
    return all;
  }
  template <class Source>
  explicit Pegasos(const Source& s)
      : v(s, "coef", s.flag("average")), n_steps(s.array("n_steps", "")), scale(s.array("scale", "")),
        square_norm(s.array("square_norm", "")), cross(s.array("cross", "")), held_square(s.array("held_square", "")),
        area(s.array("area", "")), constant_area(s.array("constant_area", "")), pull_sum(s.array("pull_sum", "")),
        n_rows(s.array("n_rows", "")), mass(s.flag("late") ? s.array("mass", "") : nullptr),
        inverse_alphas(s.vector("inverse_alphas")), inverse_alpha(s.number("inverse_alpha")), projection(s.flag("projection")),
        free_constant(s.flag("free_constant")), constant(s.constant()), n_weights(s.n_weights), criterion(s.loss()) {
    if (s.flag("mean_constant")) means.emplace(s, s.flag("batch_constant"), v.n_unfinished());
    look_up();
  }

  template <class Row>
  double margin(const Row& x) const {
    const double sum = x.sum([&](index_t j, double xj) { return v[j] * xj; }, nothing);
    return *scale * sum + of_constant(x);
  }
  /// The term of the constant in a margin.
  template <class Row>
  double of_constant(const Row& x) const {
    return x.of_constant([&](index_t j, double bias) { return bias * iterate(j); });
  }
  double iterate(index_t j) const {
    const double shrinking = *scale * v[j];
    return j < constant || !free_constant ? shrinking : means ? level : v[j];
  }
  double weight(index_t j) const {
    if (!v.averages() || *n_steps == 0) return iterate(j);
    const double mean = (area_of(j) * v[j] - v.offset_at(j)) / (mass ? *mass : *n_steps);
    return j >= constant && means ? mean_level : mean;
  }
  /// The score by the mean of the iterates, if predictions use the mean.
  template <class Row>
  double judged(const Row& x, double margin) const {
    if (!v.averages() || *n_steps == 0) return margin;
    return by_mean(x, margin, x.sum([&](index_t j, double xj) { return v.offset_at(j) * xj; }, nothing));
  }
  /// The margin and the judged score in one pass over a row, for sums that lie beside their offsets.
  template <class Row, class Kind = Sums, std::enable_if_t<std::is_same_v<Kind, Averaged>, int> = 0>
  Two both_scores(const Row& x) const {
    const Two sums = x.sum([&](index_t j, double xj) { return v.both(j) * Two(xj, xj); }, [](index_t, double) { return Two(); });
    const double margin = *scale * sums.first() + of_constant(x);
    return {margin, *n_steps == 0 ? margin : by_mean(x, margin, sums.second())};
  }
  bool wants_settling() const { return crowded; }
  bool sound() const { return std::isfinite(*held_square) && std::isfinite(*square_norm); }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  /// Whether all rows shown by foresee() have been learned from, so that the next ones must be shown first; and whether the
  /// mini-batch takes more.
  bool is_blind() const { return means && means->residual_sum && means->n_foreseen == v.n_unfinished(); }
  bool foresees_more() const { return means->n_foreseen < v.batch_size; }
  template <class Row>
  void foresee(const Row& x, double y, double weight) {
    *means->residual_sum += weight * (y - *scale * x.sum([&](index_t j, double xj) { return v[j] * xj; }, nothing));
    *means->residual_weight += weight;
    ++means->n_foreseen;
  }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    *pull_sum += weight * criterion.pull(y);
    ++*n_rows;
    const Step next = step_ahead();
    const double inside = free_constant ? margin - of_constant(x) : margin;  // <w, x> without the free constant
    if (means) {
      if (means->residual_sum) margin = means->n_foreseen > 1 ? inside + means->residual() : y;  // one row: y, without rounding
      means->count(x, y, weight, v);
    }
    const double slope = criterion.step(margin, y, weight, [&] { return next.length * inverse_square(x); }) / v.batch_size;
    if (slope != 0) {
      const double gain = -slope * next.length;
      *cross += gain * inside;
      if (inverse_alphas) add(x, gain, next.scale, [a = inverse_alphas](index_t j) { return a[j]; });
      else add(x, gain, next.scale, [a = inverse_alpha](index_t) { return a; });
    }
    if (v.row_completes_batch()) take(next);
    look_up();
    return slope != 0;
  }

  /// Completes the mini-batch with the rows it has.
  void finish() {
    if (v.n_unfinished() == 0) return;
    const double factor = v.batch_size / v.n_unfinished();
    v.scale_held(factor);
    if (means) means->scale_held(factor);
    *cross *= factor;
    *held_square *= factor * factor;
    take(step_ahead());
    look_up();
  }
  /// Makes scale = 1 and offset = -(sum of iterates), with nothing held back.
  void settle() {
    finish();
    v.settle();
    for (index_t j = 0; j < (means ? constant : n_weights); ++j) v.put(j, iterate(j), area_of(j));
    *scale = 1;
    *area = *constant_area = 0;
    if (means) means->recount(v);
    look_up();
    crowded = false;
  }
  /// Computes the norm and the products of merged weights.
  void rebuild() {
    if (means) means->recount(v);
    look_up();
    *square_norm = 0;
    for (index_t j = 0; j < (free_constant ? constant : n_weights); ++j)
      if (iterate(j) != 0)  // excluded features have an inverse alpha of 0
        *square_norm += iterate(j) * iterate(j) / (inverse_alphas ? inverse_alphas[j] : inverse_alpha);
  }

 private:
  /// The score by the mean of the iterates, for a row with this margin and this product with the offsets.
  template <class Row>
  double by_mean(const Row& x, double margin, double offset) const {
    const double bias = x.of_constant([&](index_t j, double value) { return value * weight(j); }), sum = margin - of_constant(x);
    return bias + (*area / *scale * sum - offset) / (mass ? *mass : *n_steps);
  }
  void look_up() {
    if (!means) return;
    level = means->of(*scale * *means->product);
    const double total = mass ? *mass : *n_steps;
    mean_level = total == 0 ? level : means->of((*area * *means->product - *means->offset_product) / total);
  }
  /// Step t: its length 1 / t, and the scale after (1 - 1/t) w. Before the first step w = 0, so its scale stays.
  struct Step { double length, scale; };
  Step step_ahead() const {
    const double length = 1 / (*n_steps + 1);
    return {length, *n_steps == 0 ? *scale : *scale * (1 - length)};
  }
  // A free constant is not scaled, so its area is the total weight of the iterates since settle().
  double area_of(index_t j) const { return j >= constant && free_constant ? *constant_area : *area; }

  /// x' A^-1 x.
  template <class Row>
  double inverse_square(const Row& x) const {
    const auto square = [&](index_t j, double xj) { return (inverse_alphas ? inverse_alphas[j] : inverse_alpha) * xj * xj; };
    if (!means && !inverse_alphas) return inverse_alpha * x.square();
    return x.sum(square, [&](index_t j, double bias) { return means ? 0 : square(j, bias); });
  }
  template <class Row, class InverseAlpha>
  void add(const Row& x, double gain, double next_scale, InverseAlpha inverse) {
    const double step = gain / next_scale;
    // Growth of sum_j alpha_j held_j^2 per unit of gain. Must be computed before anything is added.
    const auto grows = [&](index_t j, double xj) { return xj * (2 * next_scale * v.held(j) + gain * inverse(j) * xj); };
    const auto constant_grows = [&](index_t j, double bias) { return free_constant ? 0 : grows(j, bias); };
    const auto move = [&](double by, double lived) {  // `lived`: the area before this change
      return [&, by, lived](index_t j, double xj) { v.add(j, by * inverse(j) * xj, lived); };
    };
    const auto moves = move(step, *area), constant_moves = free_constant ? move(gain, *constant_area) : moves;
    if constexpr (!Sums::waits && Row::is_gathered) {
      if (!means) {  // nothing is held, so one pass over the row does both
        const auto both = [&](index_t j, double xj) {
          moves(j, xj);
          return grows(j, xj);
        };
        *held_square += gain * x.sum(both, [&](index_t j, double bias) {
          constant_moves(j, bias);
          return constant_grows(j, bias);
        });
        return;
      }
    }
    *held_square += gain * x.sum(grows, constant_grows);
    if (means) {
      means->hold_back(step * x.sum([&](index_t j, double xj) { return inverse(j) * xj * means->row_sum[j]; }, nothing), *area);
      x.each(moves, [](index_t, double) {});
    } else {
      x.each(moves, constant_moves);
    }
  }
  void take(const Step& next) {
    const double decay = 1 - next.length;
    *scale = next.scale;
    ++*n_steps;
    *square_norm = std::max(0.0, decay * decay * *square_norm + 2 * decay * *cross + *held_square);
    *cross = *held_square = 0;
    if (means) means->take();
    if (!std::isfinite(*square_norm)) return;  // sound() is now false
    double factor = 1;
    if (projection && *square_norm * *n_rows > *pull_sum) {
      const double ball = *pull_sum / *n_rows;
      factor = std::sqrt(ball / *square_norm);
      *scale *= factor;
      *square_norm = ball;
    }
    v.next_batch();
    const double count = mass ? *n_steps : 1;
    *area += count * *scale;
    *constant_area += count;
    if (mass) *mass += count;
    // After strong or many projections: before the scale underflows, or area v - offset loses precision.
    crowded = *scale < 1e-150 || (v.averages() && (factor < 0.1 || *scale * (mass ? *mass : *n_steps) < 1e-2 * *area));
  }
};

THRESHER_LEARNER(Pegasos, "Pegasos, a step for every row.", Pegasos<Direct>)
THRESHER_LEARNER(PegasosMean, "Pegasos, a step for every row, read by the mean of its iterates.", Pegasos<Averaged>)
THRESHER_LEARNER(PegasosJoint, "Pegasos, several classes in one step.", JointOf<Pegasos<Direct>>)
THRESHER_LEARNER(PegasosMeanJoint, "The same, read by the mean of its iterates.", JointOf<Pegasos<Averaged>>)
THRESHER_LEARNER(PegasosBatch, "Pegasos, a step for every batch_size rows.", Pegasos<HeldBack>)

}  // namespace thresher
