#pragma once
#include "joint.hpp"
#include "pa.hpp"

namespace thresher {

/// Passive-aggressive steps for several classes (see JointClasses): the smallest change that removes l = max(0, 1 - (s_t - s_b)).
///
///     w_t += tau x,   w_b -= tau x,      tau as in Pa, with 2 |x|^2 in place of |x|^2
///
/// A row weight multiplies C.   Crammer et al., JMLR 7 (2006), section 8.
struct PaJoint : JointClasses {
  double C;
  bool squared;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all{{"coef", "weight output", 0.0, "mean"}};
    LateMean::declare(all, s, "weight output");
    return all;
  }
  template <class Source>
  explicit PaJoint(const Source& s) : JointClasses(s), C(s.number("C")), squared(s.flag("squared")) {}

  template <class Row>
  bool update(const Row& x, const Item& item, const double* out) {
    const double row_square = x.square();
    const bool moved = each_step(item, out, [&](const auto& sides, double m) {
      const double l = Hinge().value(m, 1), square = static_cast<double>(sides.size()) * row_square;
      if (l == 0 || square < std::numeric_limits<double>::min()) return false;
      const double tau = pa_step(l, square, C * item.weight, squared);
      late.watch([&](auto note) {
        x.each([&](index_t j, double xj) {
          for (const Side& side : sides) {
            const index_t at = j * n_classes + side.code;
            mean[at] += tau * side.sign * xj;
            note(at, tau * side.sign * xj);
          }
        });
      });
      return true;
    });
    late.step();
    return moved;
  }
};

THRESHER_LEARNER(PaJoint, "Passive-aggressive steps of several classes: C, squared, average.", PaJoint)

}  // namespace thresher
