// Penalties on the rows of a weight matrix, each of which holds the weights of one feature in all tasks. A prox computes one
// number for the whole row in O(n_tasks), and from it each entry in O(1).
#pragma once
#include <algorithm>
#include <stdexcept>
#include <string>

#include "shrink.hpp"

namespace thresher {

enum class Coupling { l1, l21, l1_l21, linf1, lp1 };

/// The prox of  cut |row|, where |row| is the l1 norm (l1), the Euclidean norm (l21), l1_weight times the first plus the second
/// (l1_l21), the maximum norm (linf1) or the p-norm (lp1).   Yang (2011), eqs. 4.11-4.14.
struct RowPenalty {
  Coupling kind;
  double p;

  RowPenalty(const std::string& name, double power) : kind(named(name)), p(power) {}

  /// Whether an entry does not depend on the rest of its row.
  bool is_plain() const { return kind == Coupling::l1; }
  /// Whether a sequence of proxes equals one prox of their summed strengths.
  bool composes() const { return kind != Coupling::l1_l21 && kind != Coupling::lp1; }
  /// Whether the number of a row is a function of a length, which takes a root and a quotient but no branch.
  bool goes_by_length() const { return kind == Coupling::l21 || kind == Coupling::l1_l21; }

  /// The number from which the entries of a row are computed. Except with l1, it is at most 0 if all of them are 0.
  template <class At>
  THRESHER_INLINE double of_row(At at, std::int64_t n, double cut, double l1_weight) const {
    switch (kind) {
      case Coupling::l1: return 1;
      case Coupling::l21: return row_factor(row_length(at, n), cut);
      case Coupling::l1_l21:
        return row_factor(row_length([&](std::int64_t q) { return soft_threshold(at(q), cut * l1_weight); }, n), cut);
      case Coupling::linf1: return row_level(at, n, cut);
      default: return lp_size(at, n, cut, p);
    }
  }
  double entry(double v, double of_its_row, double cut, double l1_weight) const {
    switch (kind) {
      case Coupling::l1: return soft_threshold(v, cut);
      case Coupling::l21: return of_its_row * v;
      case Coupling::l1_l21: return of_its_row * soft_threshold(v, cut * l1_weight);
      case Coupling::linf1: return std::copysign(std::min(std::fabs(v), of_its_row), v);
      default: return lp_entry(v, of_its_row, cut, p);
    }
  }
  /// Applies the prox to a whole row in place. Returns whether an entry changed.
  THRESHER_INLINE bool shrink(double* w, std::int64_t n, double cut, double l1_weight) const {
    const auto at = [w](std::int64_t q) { return w[q]; };
    if (kind == Coupling::l21) {
      const double factor = row_factor(row_length(at, n), cut);
      return map(w, n, [=](double v) { return factor * v + 0.0; });  // 0, not -0
    }
    const double number = of_row(at, n, cut, l1_weight);
    if (!(number > 0)) {
      std::fill(w, w + n, 0.0);
      return true;
    }
    return map(w, n, [=](double v) { return entry(v, number, cut, l1_weight); });
  }

 private:
  template <class F>
  static bool map(double* w, std::int64_t n, F f) {
    bool moved = false;
    for (std::int64_t q = 0; q < n; ++q) {
      const double v = f(w[q]);
      moved |= v != w[q];
      w[q] = v;
    }
    return moved;
  }
  static Coupling named(const std::string& name) {
    if (name == "l1") return Coupling::l1;
    if (name == "l21") return Coupling::l21;
    if (name == "l1_l21") return Coupling::l1_l21;
    if (name == "linf1") return Coupling::linf1;
    if (name == "lp1") return Coupling::lp1;
    throw std::invalid_argument("unknown penalty: " + name);
  }
};

}  // namespace thresher
