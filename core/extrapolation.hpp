// Anderson acceleration: estimates the limit of a slow iteration from its last few points.
#pragma once
#include <cmath>
#include <cstddef>
#include <utility>
#include <vector>

namespace thresher {

/// From x_0 ... x_K, with differences u_k = x_{k+1} - x_k:  sum_k c_k x_{k+1},  c = argmin |sum_k c_k u_k| with sum_k c_k = 1.
/// Exact after K steps of a linear iteration in K dimensions.   Bertrand & Massias, AISTATS 2021.
class Extrapolation {
 public:
  void forget() { n = 0; }
  /// Adds a point. True if there are enough of them.
  bool push(const std::vector<double>& x) {
    if (n > depth) n = 0;
    points[n++] = x;
    return n > depth;
  }
  /// False if the system of differences is singular.
  bool find(std::vector<double>& out) const {
    double M[depth][depth + 1];
    for (int k = 0; k < depth; ++k) {
      for (int l = 0; l <= k; ++l) {
        double sum = 0;
        for (std::size_t i = 0; i < points[0].size(); ++i)
          sum += (points[k + 1][i] - points[k][i]) * (points[l + 1][i] - points[l][i]);
        M[k][l] = M[l][k] = sum;
      }
      M[k][depth] = 1;
    }
    double trace = 0, total = 0;
    for (int k = 0; k < depth; ++k) trace += M[k][k];
    for (int k = 0; k < depth; ++k) M[k][k] += 1e-14 * trace;  // differences may be almost linearly dependent
    if (!eliminate(M)) return false;
    for (const auto& row : M) total += row[depth];
    if (!std::isfinite(total) || total == 0) return false;
    out.assign(points[0].size(), 0.0);
    for (int k = 0; k < depth; ++k)
      for (std::size_t i = 0; i < out.size(); ++i) out[i] += M[k][depth] / total * points[k + 1][i];
    return true;
  }

 private:
  static constexpr int depth = 5;

  /// Gaussian elimination with pivoting. The solution is left in the last column.
  static bool eliminate(double (&M)[depth][depth + 1]) {
    for (int k = 0; k < depth; ++k) {
      int best = k;
      for (int l = k + 1; l < depth; ++l)
        if (std::fabs(M[l][k]) > std::fabs(M[best][k])) best = l;
      if (M[best][k] == 0) return false;
      std::swap(M[k], M[best]);
      for (int l = 0; l < depth; ++l) {
        if (l == k) continue;
        const double part = M[l][k] / M[k][k];
        for (int m = k; m <= depth; ++m) M[l][m] -= part * M[k][m];
      }
    }
    for (int k = 0; k < depth; ++k) M[k][depth] /= M[k][k];
    return true;
  }

  std::vector<double> points[depth + 1];
  int n = 0;
};

}  // namespace thresher
