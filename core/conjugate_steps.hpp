// Acceleration of a slow descent: the lowest point in the span of its last steps.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

#include "block_columns.hpp"

namespace thresher {

/// Steps of a descent on  f(x) = |r(x)|^2 / 2 + Omega(x)  with affine r: the changes of x and r, and the directional derivative
/// of Omega along them at the current point. If Omega were linear there, the best combination of the steps,
///
///     min_c  sum_kl c_k c_l <dr_k, dr_l> / 2 + sum_k c_k (<r, dr_k> + slope_k),
///
/// would solve a small linear system. The last step and those before it, each added to the combination that followed it, make
/// this the method of conjugate gradients, preconditioned by the descent.   Knyazev, SIAM J. Sci. Comput. 23 (2001).
class ConjugateSteps {
 public:
  struct Step {
    std::vector<double> x, r;
    double slope = 0;
  };
  /// At t times the combination, |r|^2 / 2 changes by  t slope + t^2 bend / 2.
  struct Way { double slope = 0, bend = 0; };
  static constexpr int depth = 4;

  int size() const { return n; }
  Step& operator[](int k) { return steps[k]; }
  /// Keeps only the last steps.
  void keep(int n_last) { n = std::min(n, n_last); }
  /// Room for a new step, which becomes the first. The oldest is overwritten.
  Step& next() {
    n = std::min(n + 1, depth);
    std::rotate(steps, steps + depth - 1, steps + depth);
    return steps[0];
  }
  /// Finds the best combination. False if the system is singular.
  bool find(const std::vector<double>& r, double l2, Way& way) {
    const auto length = static_cast<index_t>(r.size()), width = static_cast<index_t>(steps[0].x.size());
    double M[depth][depth + 1], gram[depth][depth], rates[depth];
    for (int k = 0; k < n; ++k) {
      for (int l = 0; l <= k; ++l) gram[k][l] = gram[l][k] = dot(steps[k].r.data(), steps[l].r.data(), length);
      rates[k] = dot(r.data(), steps[k].r.data(), length);
    }
    for (int k = 0; k < n; ++k) {
      for (int l = 0; l < n; ++l) M[k][l] = gram[k][l] + (l2 > 0 ? l2 * dot(steps[k].x.data(), steps[l].x.data(), width) : 0);
      M[k][k] *= 1 + 1e-12;  // steps may be almost linearly dependent
      M[k][n] = -(rates[k] + steps[k].slope);
    }
    if (n == 0 || !eliminate(M)) return false;
    way = {};
    for (int k = 0; k < n; ++k) {
      weights[k] = M[k][n];
      way.slope += weights[k] * rates[k];
      for (int l = 0; l < k; ++l) way.bend += 2 * weights[k] * weights[l] * gram[k][l];
      way.bend += weights[k] * weights[k] * gram[k][k];
    }
    return std::isfinite(way.slope) && std::isfinite(way.bend);
  }
  void combine(std::vector<double> Step::* which, std::vector<double>& out) const {
    out.assign((steps[0].*which).size(), 0.0);
    for (int k = 0; k < n; ++k)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += weights[k] * (steps[k].*which)[i];
  }

 private:
  /// Gaussian elimination with pivoting. The solution is left in the last column.
  bool eliminate(double (&M)[depth][depth + 1]) const {
    for (int k = 0; k < n; ++k) {
      int best = k;
      for (int l = k + 1; l < n; ++l)
        if (std::fabs(M[l][k]) > std::fabs(M[best][k])) best = l;
      if (M[best][k] == 0) return false;
      std::swap(M[k], M[best]);
      for (int l = 0; l < n; ++l) {
        if (l == k) continue;
        const double part = M[l][k] / M[k][k];
        for (int m = k; m <= n; ++m) M[l][m] -= part * M[k][m];
      }
    }
    for (int k = 0; k < n; ++k) M[k][n] /= M[k][k];
    return true;
  }

  Step steps[depth];
  double weights[depth] = {};
  int n = 0;
};

}  // namespace thresher
