// A sparse prototype of some rows, learned from rows drawn one by one. Adaptive dual averaging for
//
//   min_w  mean over rows x of  loss(w, x)  +  alpha |w|_1
//
//   squared   |x - w|^2 / 2      g = w - x                               (the minimum is soft(mean, alpha))
//   hinge     [1 - <w, x>]_+     g = -x where <w, x> < 1, else 0
//
// After draw t, with G the sum and Q the sum of squares of g:   w = -eta / (rho + sqrt(Q)) soft(G, alpha t).
// A weight of 0 whose feature is not in the row has g = 0 and a growing threshold, so it stays 0. A draw costs O(non-zeros of the
// row + non-zero weights).   Jumutc (2016), Algorithm 12 and (4.20)-(4.22).
#pragma once
#include <cmath>
#include <vector>

#include "rows.hpp"
#include "shrink.hpp"
#include "watch.hpp"

namespace thresher {

struct Prototype {
  double* w;
  double alpha, eta, rho;
  bool hinge;
  std::vector<double> sum, squares, x;  // G, Q and the current row
  std::vector<index_t> active;          // indices of the non-zero weights

  Prototype(double* weights, index_t n, double a, double e, double r, bool h)
      : w(weights), alpha(a), eta(e), rho(r), hinge(h), sum(n), squares(n), x(n) {
    active.reserve(n);
    for (index_t j = 0; j < n; ++j)
      if (w[j] != 0) active.push_back(j);
  }

  /// Updates one weight with its gradient in draw t.
  void step(index_t j, double g, double t) {
    sum[j] += g;
    squares[j] += g * g;
    w[j] = -eta / (rho + std::sqrt(squares[j])) * soft_threshold(sum[j], alpha * t) + 0.0;
  }

  /// Learns from the row of draw t.
  template <class Row>
  void update(const Row& row, double t) {
    const double pull = !hinge || row.dot(w) < 1 ? 1.0 : 0.0;
    row.each([&](index_t j, double xj) { x[j] = xj; });
    std::size_t kept = 0;
    for (const index_t j : active) {
      step(j, (hinge ? 0.0 : w[j]) - pull * x[j], t);
      x[j] = 0;  // skipped by the second loop
      if (w[j] != 0) active[kept++] = j;
    }
    active.resize(kept);
    row.each([&](index_t j, double) {
      if (x[j] == 0) return;
      step(j, -pull * x[j], t);
      x[j] = 0;
      if (w[j] != 0) active.push_back(j);
    });
  }
};

/// Learns from all draws in order. It cannot stop early: a draw that hardly changes w shows a row near w, not convergence.
template <class Rows>
void run_prototype(const Rows& rows, const index_t* order, index_t n_draws, Prototype& prototype) {
  Watch watch;
  for (index_t t = 1; t <= n_draws; ++t) {
    watch.tick();
    prototype.update(rows.row(order[t - 1], 0.0), static_cast<double>(t));
  }
}

}  // namespace thresher
