// Tasks on the same dense rows: one sweep computes the products of two columns with the rates of several tasks, and applies the
// steps of the two previous columns. The second product is computed before the first column's step; the effect of that step is
// added afterwards.
#pragma once
#include <algorithm>
#include <cstring>
#include <type_traits>
#include <vector>

#include "block_columns.hpp"

namespace thresher {

/// Four numbers, added and multiplied element by element.
#if THRESHER_GNU
using Four = double __attribute__((vector_size(32)));
#else
struct Four {
  double each[4];

  double operator[](int k) const { return each[k]; }
  Four& operator+=(const Four& other) {
    for (int k = 0; k < 4; ++k) each[k] += other.each[k];
    return *this;
  }
  friend Four operator*(const Four& a, const Four& b) {
    Four product;
    for (int k = 0; k < 4; ++k) product.each[k] = a.each[k] * b.each[k];
    return product;
  }
  friend Four operator*(double a, const Four& b) { return Four{{a, a, a, a}} * b; }
};
#endif

namespace columns_detail {

THRESHER_INLINE void load(const double* from, Four& to) { std::memcpy(&to, from, sizeof to); }
THRESHER_INLINE void load(const float* from, Four& to) { to = Four{from[0], from[1], from[2], from[3]}; }

/// For tasks t = 0 ... W - 1:  q_t += sum_m step_m[t] moved_m, over M steps, and  out_c[t] = <x_c, q_t>  for C columns, in the
/// same order on every machine.
template <int W, int M, int C, class Value>
THRESHER_INLINE void sweep_body(const double* const* moved, const double* const* step, const Value* const* x, double* const* q,
                                index_t n, double* const* out) {
  Four sums[W][C > 0 ? C : 1];
  double *rates[W], steps[W][M > 0 ? M : 1];
  for (int t = 0; t < W; ++t) {
    rates[t] = q[t];
    for (int c = 0; c < C; ++c) sums[t][c] = Four{};
    for (int m = 0; m < M; ++m) steps[t][m] = step[m][t];
  }
  index_t end = 0;
  for (; end + 4 <= n; end += 4) {
    Four of_x[C > 0 ? C : 1], of_moved[M > 0 ? M : 1], rate;
    for (int c = 0; c < C; ++c) load(x[c] + end, of_x[c]);
    for (int m = 0; m < M; ++m) load(moved[m] + end, of_moved[m]);
    for (int t = 0; t < W; ++t) {
      load(rates[t] + end, rate);
      for (int m = 0; m < M; ++m) rate += steps[t][m] * of_moved[m];
      if constexpr (M > 0) std::memcpy(rates[t] + end, &rate, sizeof rate);
      for (int c = 0; c < C; ++c) sums[t][c] += of_x[c] * rate;
    }
  }
  for (int t = 0; t < W; ++t) {
    double rest[C > 0 ? C : 1] = {0};
    for (index_t i = end; i < n; ++i) {
      for (int m = 0; m < M; ++m) rates[t][i] += steps[t][m] * moved[m][i];
      for (int c = 0; c < C; ++c) rest[c] += static_cast<double>(x[c][i]) * rates[t][i];
    }
    for (int c = 0; c < C; ++c) {
      const Four& sum = sums[t][c];
      out[c][t] = ((sum[0] + sum[1]) + (sum[2] + sum[3])) + rest[c];
    }
  }
}

template <int W, int M, int C, class Value>
void sweep_plain(const double* const* moved, const double* const* step, const Value* const* x, double* const* q, index_t n,
                 double* const* out) {
  sweep_body<W, M, C>(moved, step, x, q, n, out);
}
#if defined(__x86_64__) && THRESHER_GNU
template <int W, int M, int C, class Value>
[[gnu::target("avx2")]] void sweep_wide(const double* const* moved, const double* const* step, const Value* const* x,
                                        double* const* q, index_t n, double* const* out) {
  sweep_body<W, M, C>(moved, step, x, q, n, out);
}
#else
template <int W, int M, int C, class Value>
void sweep_wide(const double* const* moved, const double* const* step, const Value* const* x, double* const* q, index_t n,
                double* const* out) {
  sweep_body<W, M, C>(moved, step, x, q, n, out);
}
#endif

}  // namespace columns_detail

template <class Columns> struct IsDense : std::false_type {};
template <class Value> struct IsDense<DenseRows<Value>> : std::true_type {};

/// Rates of tasks on the same dense rows, with pending steps along the last columns.
class TaskSweep {
 public:
  /// Works on any array that tasks keep per row: rates q, or anything else to which columns are added.
  template <class Tasks, class Kept>
  void begin(Tasks& tasks, Kept kept) {
    rates.clear();
    for (auto& task : tasks) rates.push_back((task.*kept).data());
    n_rows = tasks[0].of.n, n_waiting = 0, met = nullptr;
    ahead.resize(rates.size());
    for (auto& each : moved) each.resize(n_rows);
    for (auto& each : step) each.resize(rates.size());
  }

  /// out_t = <x, q_t>, after all steps. `next` is the column that is probably needed next, if known.
  template <class Value>
  void dot(const DenseRow<Value>& x, const DenseRow<Value>* next, double* out) {
    if (met == x.values) {
      std::copy(ahead.begin(), ahead.end(), out);
      for (int m = 0; m < n_waiting; ++m) {
        const double turned = thresher::dot(x, moved[m].data());
        for (std::size_t t = 0; t < rates.size(); ++t) out[t] += turned * step[m][t];
      }
      met = nullptr;
      return;
    }
    const Value* const columns[2] = {x.values, next ? next->values : nullptr};
    double* const outs[2] = {out, ahead.data()};
    next ? with_steps<2>(columns, outs) : with_steps<1>(columns, outs);
    met = columns[1], n_waiting = 0;
  }
  /// q_t += step_t d x, delayed until the next column is read. Without d, it is 1.
  template <class Value>
  void add(const DenseRow<Value>& x, const double* d, const double* by) {
    if (n_waiting == 2) flush();
    for (index_t i = 0; i < n_rows; ++i) moved[n_waiting][i] = (d ? d[i] : 1) * static_cast<double>(x.values[i]);
    std::copy_n(by, rates.size(), step[n_waiting].begin());
    ++n_waiting;
  }
  /// Applies the pending steps.
  void flush() {
    const double* none[1] = {nullptr};
    double* nowhere[2] = {nullptr, nullptr};
    if (n_waiting > 0) with_steps<0>(none, nowhere);
    n_waiting = 0, met = nullptr;
  }
  /// Discards the product computed ahead, since the rates have changed in another way.
  void forget() { met = nullptr; }

 private:
  template <int C, class Value>
  void with_steps(const Value* const* x, double* const* out) {
    n_waiting == 0 ? all<0, C>(x, out) : n_waiting == 1 ? all<1, C>(x, out) : all<2, C>(x, out);
  }
  template <int M, int C, class Value>
  void all(const Value* const* x, double* const* out) {
    constexpr int at_once = 4;  // sums of more do not fit the registers
    std::size_t t = 0;
    for (; t + at_once <= rates.size(); t += at_once) some<at_once, M, C>(x, t, out);
    for (; t < rates.size(); ++t) some<1, M, C>(x, t, out);
  }
  template <int W, int M, int C, class Value>
  void some(const Value* const* x, std::size_t t, double* const* out) {
    using namespace columns_detail;
    const double* const along[2] = {moved[0].data(), moved[1].data()};
    const double* const by[2] = {step[0].data() + t, step[1].data() + t};
    double* const to[2] = {C > 0 ? out[0] + t : nullptr, C > 1 ? out[1] + t : nullptr};
    wide() ? sweep_wide<W, M, C>(along, by, x, rates.data() + t, n_rows, to)
           : sweep_plain<W, M, C>(along, by, x, rates.data() + t, n_rows, to);
  }

  std::vector<double*> rates;
  std::vector<double> moved[2], step[2];
  std::vector<double> ahead;  // <x, q_t> of the column computed ahead, before the pending steps
  const void* met = nullptr;  // the values of that column
  int n_waiting = 0;
  index_t n_rows = 0;
};

}  // namespace thresher
