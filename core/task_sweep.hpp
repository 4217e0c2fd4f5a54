// Tasks on the same dense rows: a column meets the rates of several tasks in one sweep, which also makes the step of the column
// before it. Rates are read and written once for both, and a column is read once for several tasks.
#pragma once
#include <cstring>
#include <type_traits>
#include <vector>

#include "block_columns.hpp"

namespace thresher {

/// Four numbers side by side, added and multiplied each with its own.
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

/// For tasks t = 0 ... W - 1:  q_t += step_t moved, where Move says so, and out_t = <x, q_t>, in the same order on any machine.
template <int W, bool Move, class Value>
THRESHER_INLINE void sweep_body(const double* moved, const double* step, const Value* x, double* const* q, index_t n,
                                double* out) {
  Four low[W], high[W];
  double *rates[W], steps[W];
  for (int t = 0; t < W; ++t) low[t] = high[t] = Four{}, rates[t] = q[t], steps[t] = Move ? step[t] : 0;
  index_t end = 0;
  for (; end + 8 <= n; end += 8) {
    Four x0, x1, moved0, moved1, r0, r1;
    load(x + end, x0), load(x + end + 4, x1);
    if constexpr (Move) load(moved + end, moved0), load(moved + end + 4, moved1);
    for (int t = 0; t < W; ++t) {
      load(rates[t] + end, r0), load(rates[t] + end + 4, r1);
      if constexpr (Move) {
        r0 += steps[t] * moved0, r1 += steps[t] * moved1;
        std::memcpy(rates[t] + end, &r0, sizeof r0), std::memcpy(rates[t] + end + 4, &r1, sizeof r1);
      }
      low[t] += x0 * r0, high[t] += x1 * r1;
    }
  }
  for (int t = 0; t < W; ++t) {
    double rest = 0;
    for (index_t i = end; i < n; ++i) {
      if constexpr (Move) rates[t][i] += steps[t] * moved[i];
      rest += static_cast<double>(x[i]) * rates[t][i];
    }
    low[t] += high[t];
    out[t] = ((low[t][0] + low[t][1]) + (low[t][2] + low[t][3])) + rest;
  }
}

template <int W, bool Move, class Value>
void sweep_plain(const double* moved, const double* step, const Value* x, double* const* q, index_t n, double* out) {
  sweep_body<W, Move>(moved, step, x, q, n, out);
}
#if defined(__x86_64__) && THRESHER_GNU
template <int W, bool Move, class Value>
[[gnu::target("avx2")]] void sweep_wide(const double* moved, const double* step, const Value* x, double* const* q, index_t n,
                                        double* out) {
  sweep_body<W, Move>(moved, step, x, q, n, out);
}
#else
template <int W, bool Move, class Value>
void sweep_wide(const double* moved, const double* step, const Value* x, double* const* q, index_t n, double* out) {
  sweep_body<W, Move>(moved, step, x, q, n, out);
}
#endif

}  // namespace columns_detail

template <class Columns> struct IsDense : std::false_type {};
template <class Value> struct IsDense<DenseRows<Value>> : std::true_type {};

/// Rates of tasks on the same dense rows, and a step of theirs along a column that has not been made yet.
class TaskSweep {
 public:
  /// For the rates q of these tasks.
  template <class Tasks>
  void begin(Tasks& tasks) {
    rates.clear();
    for (auto& task : tasks) rates.push_back(task.q.data());
    n_rows = tasks[0].of.n, waiting = false;
  }

  /// out_t = <x, q_t>, after the step that waits.
  template <class Value>
  void dot(const DenseRow<Value>& x, double* out) {
    waiting ? all<true>(x.values, out) : all<false>(x.values, out);
    waiting = false;
  }
  /// q_t += step_t d x, as soon as the next column is looked at.
  template <class Value>
  void add(const DenseRow<Value>& x, const double* d, const double* by) {
    moved.resize(n_rows);
    for (index_t i = 0; i < n_rows; ++i) moved[i] = d[i] * static_cast<double>(x.values[i]);
    step.assign(by, by + rates.size());
    waiting = true;
  }
  /// Makes the step that waits.
  void flush() {
    if (!waiting) return;
    for (std::size_t t = 0; t < rates.size(); ++t)
      for (index_t i = 0; i < n_rows; ++i) rates[t][i] += step[t] * moved[i];
    waiting = false;
  }

 private:
  template <bool Move, class Value>
  void all(const Value* x, double* out) {
    constexpr int at_once = Move ? 2 : 4;  // sums of more do not fit the registers
    const std::size_t n_tasks = rates.size();
    std::size_t t = 0;
    for (; t + at_once <= n_tasks; t += at_once) some<at_once, Move>(x, t, out);
    for (; t < n_tasks; ++t) some<1, Move>(x, t, out);
  }
  template <int W, bool Move, class Value>
  void some(const Value* x, std::size_t t, double* out) {
    using namespace columns_detail;
    const double* const steps = Move ? step.data() + t : nullptr;
    wide() ? sweep_wide<W, Move>(moved.data(), steps, x, rates.data() + t, n_rows, out + t)
           : sweep_plain<W, Move>(moved.data(), steps, x, rates.data() + t, n_rows, out + t);
  }

  std::vector<double*> rates;
  std::vector<double> moved, step;
  index_t n_rows = 0;
  bool waiting = false;
};

}  // namespace thresher
