#pragma once
#include "group_rda.hpp"

namespace thresher {

/// The other group penalties: with l1 inside the groups (r_g), with the sparsity-enhancing rho, or with the maximum norm of a
/// group. On the scale of sums
///
///     w^g = -(eta0 / sqrt(t)) shrink(S^g),      l1 = alpha t r_g + rho sqrt(t) / eta0,
///     penalty = alpha t sqrt(d_g)  or  alpha t d_g
///
/// The shrinkage depends on t, so it is recomputed for the groups of each row: O(non-zeros + sizes of their groups).
template <class Members>
struct SparseGroupRda : GroupRda {
  const double* l1_weights;  // one per group, or null: l1_weight for all
  double l1_weight, rho;
  bool largest;  // whether the norm is the maximum norm
  Members members;
  Memo<Shrinkage> found;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    return {Field{"n_steps", "", 0.0, "sum"}.counts(), {"gradient_sum", "weight", 0.0, "sum"}};
  }
  template <class Source>
  explicit SparseGroupRda(const Source& s)
      : GroupRda(s), l1_weights(s.vector("l1_weights", "group")), l1_weight(s.number("l1_weight")), rho(s.number("rho")),
        largest(s.flag("largest")), members{groups}, found(groups.n_groups()) {
    look_up();
  }

  template <class Row>
  double margin(const Row& x) const {
    const double sum = x.sum([&](index_t j, double xj) { return xj == 0 ? 0.0 : left_of(j) * xj; }, nothing);
    return -scale * (sum + x.bias * gradient_sum[constant]);
  }
  double weight(index_t j) const { return -scale * (j == constant ? gradient_sum[j] : left_of(j)); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    const double slope = GroupRda::slope(x, y, margin, weight, members);
    if (slope != 0) x.each([&](index_t j, double xj) { gradient_sum[j] += slope * xj; });
    ++*n_steps;
    look_up();
    found.forget();
    return slope != 0;
  }

 private:
  double cut = 0, extra = 0;  // alpha t, rho sqrt(t) / eta0

  void look_up() {
    const double root = std::sqrt(*n_steps);
    scale = root > 0 ? eta0 / root : 0;
    cut = alpha * *n_steps;
    extra = rho * root / eta0;
  }
  double left_of(index_t j) const {
    double left = 0;
    const double sum = gradient_sum[j];
    const bool grouped = members.each(j, [&](index_t g, double) { left += found.at(g, [&] { return shrunk(g); })(sum); });
    return grouped ? left : soft_threshold(sum, cut * (1 + l1_weight) + extra);
  }
  Shrinkage shrunk(index_t g) const {
    const std::int32_t* member = groups.of(g).begin();
    const auto value = [&](index_t k) { return gradient_sum[member[k]]; };
    const double l1 = cut * (l1_weights ? l1_weights[g] : l1_weight) + extra, size = static_cast<double>(groups.size(g));
    return largest ? shrink_level(groups.size(g), value, l1, cut * size)
                   : shrink_length(groups.size(g), value, l1, cut * std::sqrt(size));
  }
};

THRESHER_LEARNER(SparseGroupRda, "Sparse and enhanced group lasso, or the largest weight of a group.", SparseGroupRda<Partition>)
THRESHER_LEARNER(SparseGroupRdaOverlap, "The same for groups that share weights.", SparseGroupRda<Cover>)

}  // namespace thresher
