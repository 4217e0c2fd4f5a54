#pragma once
#include <algorithm>
#include <cmath>
#include <stdexcept>

#include "../groups.hpp"
#include "../learner.hpp"
#include "../loss.hpp"
#include "../shrink.hpp"
#include "../strides.hpp"
#include "../watch.hpp"

namespace thresher {

/// Forward-backward splitting: a gradient step, then the penalty. With eta = eta0 / sqrt(t), for every group g
///
///     v = w - eta slope x,     w^g = argmin_w |w - v^g|^2 / 2 + eta alpha (r_g |w|_1 + penalty(w))
///
/// with penalty(w) = sqrt(d_g) |w|_2, or d_g max|w|. Without l1, the overdue steps of a group equal one step of their summed
/// length, which is taken when a row needs the group: O(non-zeros + sizes of their groups) per row. With l1 (`stepwise`), they
/// are taken one by one, and in strides after the first 16384, until the group is zero. The constant has no penalty.
/// Duchi & Singer, JMLR 10 (2009); Yang (2011), eq. 3.8.
///
/// `last` is the sum of eta (with `stepwise`, the step) up to which a weight is current. A group stores it at its first member.
struct GroupFobos : Plain {
  double *coef, *last, *n_steps, *path;  // path: the sum of eta
  const Groups& groups;
  Partition members;
  const double* l1_weights;  // one per group, or null: l1_weight for all
  double alpha, eta0, l1_weight;
  bool largest, stepwise;
  index_t constant;
  const Loss& criterion;
  Memo<Shrinkage> found;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {Field{"n_steps", "", 0.0, "sum"}.counts(),
            Field{"path", "", 0.0, "derived"}.non_negative(),
            {"coef", "weight", 0.0, "mean"},
            Field{"last", "weight", 0.0, "derived"}.non_negative()};
  }
  template <class Source>
  explicit GroupFobos(const Source& s)
      : coef(s.array("coef", "weight")), last(s.array("last", "weight")), n_steps(s.array("n_steps", "")),
        path(s.array("path", "")), groups(s.template object<Groups>("groups")), members{groups},
        l1_weights(s.vector("l1_weights", "group")), alpha(s.number("alpha")), eta0(s.number("eta0")),
        l1_weight(s.number("l1_weight")), largest(s.flag("largest")), stepwise(s.flag("stepwise")), constant(s.n_weights - 1),
        criterion(s.loss()), found(groups.n_groups()) {
    if (groups.overlapping || groups.n_covered() > constant || groups.n_groups() != s.extent("group"))
      throw std::invalid_argument("the groups are not those of the state");
  }

  template <class Row>
  double margin(const Row& x) const {
    return x.sum([&](index_t j, double xj) { return xj == 0 ? 0.0 : weight(j) * xj; });
  }
  double weight(index_t j) const {
    double w = coef[j];
    if (w == 0 || j == constant) return w;
    const bool grouped = members.each(j, [&](index_t g, double) { w = shrinkage(g)(w); });
    return grouped ? w : soft_threshold(w, cut_alone(j));
  }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double eta = eta0 / std::sqrt(*n_steps + 1);
    const double slope = criterion.step(margin, y, weight, [&] { return eta * x.square(); }), step = eta * slope;
    if (slope != 0)
      x.each([&](index_t j, double xj) {
        if (xj == 0) return;
        catch_up(j);
        coef[j] -= step * xj;
      }, [&](index_t j, double bias) { coef[j] -= step * bias; });
    ++*n_steps;
    *path += eta;
    found.forget();
    return slope != 0;
  }
  void settle() {
    Watch watch;
    for (index_t j = 0; j < constant; ++j) {
      watch.tick();
      catch_up(j);
    }
    found.forget();
  }
  /// For a settled state whose clock has changed.
  void rebuild() {
    for (index_t j = 0; j < constant; ++j)
      if (!members.each(j, [&](index_t g, double) { last[head(g)] = clock(); })) last[j] = *path;
  }

 private:
  index_t head(index_t g) const { return *groups.of(g).begin(); }
  double clock() const { return stepwise ? *n_steps : *path; }
  double cut_alone(index_t j) const { return alpha * (1 + l1_weight) * std::max(0.0, *path - last[j]); }

  void catch_up(index_t j) {
    const bool grouped = members.each(j, [&](index_t g, double) {
      double& settled = last[head(g)];
      if (settled == clock()) return;
      const Shrinkage shrunk = shrinkage(g);
      for (const std::int32_t k : groups.of(g)) coef[k] = shrunk(coef[k]);
      settled = clock();
    });
    if (grouped) return;
    coef[j] = soft_threshold(coef[j], cut_alone(j));
    last[j] = *path;
  }
  const Shrinkage& shrinkage(index_t g) const {
    return found.at(g, [&] { return stepwise ? step_by_step(g) : shrink(g, {}, 0, std::max(0.0, *path - last[head(g)])); });
  }
  /// The shrinkage of a group by a step of length eta that follows the shrinkage `before`.
  Shrinkage shrink(index_t g, const Shrinkage& before, double l1, double eta) const {
    if (!(eta * alpha > 0)) return {};
    const std::int32_t* member = groups.of(g).begin();
    const auto value = [&](index_t k) { return before(coef[member[k]]); };
    const index_t n = groups.size(g);
    const double size = static_cast<double>(n);
    return largest ? shrink_level(n, value, eta * l1, eta * alpha * size)
                   : shrink_length(n, value, eta * l1, eta * alpha * std::sqrt(size));
  }
  Shrinkage step_by_step(index_t g) const {
    const double l1 = alpha * (l1_weights ? l1_weights[g] : l1_weight);
    Shrinkage all;
    const double from = std::max(0.0, last[head(g)]), n = *n_steps - from;
    for (double k = 0; k < n && !all.is_zero();) {
      const double m = stride(k, n - k);
      all = all.then(shrink(g, all, l1, length_of_steps(eta0, from + k, m)));
      k += m;
    }
    return all;
  }
};

THRESHER_LEARNER(GroupFobos, "Group penalties by forward-backward splitting.", GroupFobos)

}  // namespace thresher
