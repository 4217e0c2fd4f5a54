// Sums over a column of a matrix. Columns are the rows of the transposed matrix, so CSC matrices and arrays in Fortran order need
// no copy.
#pragma once
#include "rows.hpp"

namespace thresher {

// Dense columns of doubles: sixteen partial sums, added in the same order for every vector width, so that results have the same
// bits on all machines.
namespace columns_detail {

[[gnu::always_inline]] inline double dot_body(const double* x, const double* u, index_t n) {
  double acc[16] = {0};
  index_t i = 0;
  for (; i + 16 <= n; i += 16)
    for (int k = 0; k < 16; ++k) acc[k] += x[i + k] * u[i + k];
  for (; i < n; ++i) acc[i & 15] += x[i] * u[i];
  for (int width = 8; width > 0; width /= 2)
    for (int k = 0; k < width; ++k) acc[k] += acc[k + width];
  return acc[0];
}
[[gnu::always_inline]] inline void add_body(const double* x, const double* d, double step, double* q, index_t n) {
  for (index_t i = 0; i < n; ++i) q[i] += step * (d[i] * x[i]);
}
[[gnu::always_inline]] inline void scale_body(const double* x, double step, double* q, index_t n) {
  for (index_t i = 0; i < n; ++i) q[i] += step * x[i];
}
inline double dot_plain(const double* x, const double* u, index_t n) { return dot_body(x, u, n); }
inline void add_plain(const double* x, const double* d, double step, double* q, index_t n) { add_body(x, d, step, q, n); }
inline void scale_plain(const double* x, double step, double* q, index_t n) { scale_body(x, step, q, n); }
#if defined(__x86_64__) && THRESHER_GNU
[[gnu::target("avx2")]] inline double dot_wide(const double* x, const double* u, index_t n) { return dot_body(x, u, n); }
[[gnu::target("avx2")]] inline void add_wide(const double* x, const double* d, double step, double* q, index_t n) {
  add_body(x, d, step, q, n);
}
[[gnu::target("avx2")]] inline void scale_wide(const double* x, double step, double* q, index_t n) { scale_body(x, step, q, n); }
inline bool wide() { return __builtin_cpu_supports("avx2"); }
#else
inline bool wide() { return false; }
inline double dot_wide(const double* x, const double* u, index_t n) { return dot_body(x, u, n); }
inline void add_wide(const double* x, const double* d, double step, double* q, index_t n) { add_body(x, d, step, q, n); }
inline void scale_wide(const double* x, double step, double* q, index_t n) { scale_body(x, step, q, n); }
#endif

}  // namespace columns_detail

inline double dot(const double* x, const double* u, index_t n) {
  return columns_detail::wide() ? columns_detail::dot_wide(x, u, n) : columns_detail::dot_plain(x, u, n);
}

template <class Column>
double dot(const Column& x, const double* u) {
  return x.dot(u);
}
inline double dot(const DenseRow<double>& x, const double* u) { return dot(x.values, u, x.n_features); }

/// q_i += step d_i x_i
template <class Column>
void add_weighted(const Column& x, const double* d, double step, double* q) {
  x.each([=](index_t i, double xi) { q[i] += step * (d[i] * xi); });
}
inline void add_weighted(const DenseRow<double>& x, const double* d, double step, double* q) {
  columns_detail::wide() ? columns_detail::add_wide(x.values, d, step, q, x.n_features)
                         : columns_detail::add_plain(x.values, d, step, q, x.n_features);
}

/// q_i += step x_i
template <class Column>
void add_scaled(const Column& x, double step, double* q) {
  x.each([=](index_t i, double xi) { q[i] += step * xi; });
}
inline void add_scaled(const DenseRow<double>& x, double step, double* q) {
  columns_detail::wide() ? columns_detail::scale_wide(x.values, step, q, x.n_features)
                         : columns_detail::scale_plain(x.values, step, q, x.n_features);
}

}  // namespace thresher
