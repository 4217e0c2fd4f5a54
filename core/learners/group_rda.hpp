#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "../groups.hpp"
#include "../learner.hpp"
#include "../loss.hpp"
#include "../shrink.hpp"

namespace thresher {

/// Dual averaging with a penalty on groups of weights. After t steps, with gradient sum S, of a group g of d_g weights
///
///     w^g = argmin_w  <S^g / t, w> + alpha (r_g |w|_1 + penalty(w)) + (1 / (eta0 sqrt(t))) (|w|^2 / 2 + rho |w|_1)
///
/// with penalty(w) = sqrt(d_g) |w|_2, or d_g max|w|. A weight in several groups is the sum of its values in each of them
/// (latent groups), which share S. A weight depends only on t and the sums of its groups, so no step is replayed. The constant
/// has no penalty: w = -eta0 S / sqrt(t).   Yang (2011), eq. 3.9-3.14, Remark 5; eta0 = 1 / gamma.
struct GroupRda : Plain {
  double *gradient_sum, *n_steps;
  const Groups& groups;
  double alpha, eta0;
  index_t constant;
  const Loss& criterion;
  double scale = 0;  // eta0 / sqrt(t)

  template <class Source>
  explicit GroupRda(const Source& s)
      : gradient_sum(s.array("gradient_sum", "weight")), n_steps(s.array("n_steps", "")),
        groups(s.template object<Groups>("groups")), alpha(s.number("alpha")), eta0(s.number("eta0")), constant(s.n_weights - 1),
        criterion(s.loss()) {
    if (groups.n_covered() > constant || groups.n_groups() != s.extent("group"))
      throw std::invalid_argument("the groups are not those of the state");
  }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  /// The weighted slope. A weight moves once for each of its groups, so it counts that often if steps are damped.
  template <class Row, class Members>
  double slope(const Row& x, double y, double margin, double weight, const Members& members) const {
    return criterion.step(margin, y, weight, [&] {
      const double square = x.sum([&](index_t j, double xj) {
        double n_groups = 0;
        members.each(j, [&](index_t, double) { ++n_groups; });
        return std::max(n_groups, 1.0) * xj * xj;
      }, [](index_t, double bias) { return bias * bias; });
      return eta0 / std::sqrt(*n_steps + 1) * square;
    });
  }
};

/// The group lasso: r = rho = 0 and the Euclidean norm. On the scale of sums
///
///     w_j = -(eta0 / sqrt(t)) [1 - alpha t sqrt(d_g) / |S^g|]+ S_j
///
/// |S^g|^2 is updated with every addition, so a row costs O(non-zeros) whatever the sizes of its groups. `error` bounds its
/// rounding error. The sum is recomputed when this bound reaches (512 + d_g) units in the last place, which costs O(1) per
/// addition. It is also recomputed when the bound leaves open whether the group is zero.
template <class Members>
struct GroupLassoRda : GroupRda {
  struct Norm { double square, error; };
  Norm* norm;
  Members members;
  double cut = 0, cut_square = 0;  // alpha t, and its square
  bool finite = true;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {Field{"n_steps", "", 0.0, "sum"}.counts(),
            {"gradient_sum", "weight", 0.0, "sum"},
            {"square_norm", "group", 0.0, "derived"},
            {"norm_error", "group", 0.0, "derived", "", "square_norm"}};
  }
  template <class Source>
  explicit GroupLassoRda(const Source& s)
      : GroupRda(s), norm(reinterpret_cast<Norm*>(s.pair("square_norm", "norm_error", "group"))), members{groups} {
    look_up();
  }

  template <class Row>
  double margin(const Row& x) const {
    x.each([&](index_t j, double) {
      prefetch_line(gradient_sum + j);
      members.prefetch(j);
    }, [](index_t, double) {});
    x.each([&](index_t j, double) { members.each(j, [&](index_t g, double) { prefetch_line(norm + g); }); },
           [](index_t, double) {});
    const double sum = x.sum([&](index_t j, double xj) { return xj == 0 ? 0.0 : left_of(j) * xj; }, nothing);
    return -scale * (sum + x.bias * gradient_sum[constant]);
  }
  double weight(index_t j) const { return -scale * (j == constant ? gradient_sum[j] : left_of(j)); }
  bool sound() const { return finite; }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double slope = GroupRda::slope(x, y, margin, weight, members);
    if (slope != 0)
      x.each([&](index_t j, double xj) { add(j, slope * xj); }, [&](index_t j, double bias) { gradient_sum[j] += slope * bias; });
    ++*n_steps;
    look_up();
    return slope != 0;
  }
  void rebuild() {
    for (index_t g = 0; g < groups.n_groups(); ++g) take_afresh(g);
  }

 private:
  static constexpr double ulp = std::numeric_limits<double>::epsilon();

  void look_up() {
    scale = *n_steps > 0 ? eta0 / std::sqrt(*n_steps) : 0;
    cut = alpha * *n_steps;
    cut_square = cut * cut;
  }
  /// S_j after shrinkage.
  double left_of(index_t j) const {
    double share = 0;
    const double sum = gradient_sum[j];
    const bool grouped = members.each(j, [&](index_t g, double size) { share += share_left(g, size); });
    return grouped ? share * sum : soft_threshold(sum, cut);
  }
  double share_left(index_t g, double size) const {
    const double least = cut_square * size;
    double square = norm[g].square;
    if (std::fabs(square - least) <= 8 * norm[g].error) square = square_of(g);
    return square > least ? 1 - std::sqrt(least / square) : 0;
  }
  void add(index_t j, double change) {
    if (change == 0) return;
    const double before = gradient_sum[j], after = gradient_sum[j] += change;
    const double more = (after - before) * (after + before);
    members.each(j, [&](index_t g, double size) {
      Norm& n = norm[g];
      n.square = std::max(0.0, n.square + more);
      n.error += ulp * (3 * std::fabs(more) + n.square);
      if (!(n.error < (512 + size) * ulp * n.square)) take_afresh(g);
    });
  }
  [[gnu::noinline]] void take_afresh(index_t g) {  // rare: kept out of the loops
    norm[g] = {square_of(g), 0};
    norm[g].error = 4 * ulp * norm[g].square;
    finite &= norm[g].square <= std::numeric_limits<double>::max();
  }
  [[gnu::noinline]] double square_of(index_t g) const {
    double square = 0;
    for (const std::int32_t j : groups.of(g)) square += gradient_sum[j] * gradient_sum[j];
    return square;
  }
};

THRESHER_LEARNER(GroupLassoRda, "Group lasso by dual averaging.", GroupLassoRda<Partition>)
THRESHER_LEARNER(GroupLassoRdaOverlap, "The same for groups that share weights.", GroupLassoRda<Cover>)

}  // namespace thresher
