// Read-only views of training rows. A Row offers dot(w), square(), sum(term) and each(f), so learners need not know whether data
// is dense or sparse, nor in which precision it is stored.
//
// A row may have a constant feature of value `bias`, whose weight is stored after that of the last column (index n_features).
// With a bias of 0, it has none.
#pragma once
#include <cmath>
#include <cstdint>
#include <limits>
#include <type_traits>
#include <variant>

#include "compiler.hpp"

namespace thresher {

using index_t = std::int64_t;
using column_t = std::int32_t;
constexpr index_t most_features = std::numeric_limits<column_t>::max();

/// The type of a sum of terms: double, or Two for pairs.
template <class Term>
using SumOf = std::conditional_t<std::is_same_v<std::invoke_result_t<Term, index_t, double>, Two>, Two, double>;

/// What both layouts derive from their sum(term, constant) and each(f, constant).
template <class Row>
struct RowOf {
  static constexpr bool is_gathered = false;  // whether weights are read at scattered addresses, which is slow
  /// Sum of term(j, x_j) over the features, including the constant.
  template <class Term>
  SumOf<Term> sum(Term term) const {
    return self().sum(term, term);
  }
  template <class F>
  void each(F f) const {
    self().each(f, f);
  }
  /// Calls two(j, k, (x_j, x_k)) for pairs of features, then one(j, x_j) for the last of an odd number and for the constant.
  template <class Both, class One>
  void each_two(Both two, One one) const {
    const auto& x = self();
    index_t k = 0;
    for (; k + 2 <= x.n_stored(); k += 2)
      two(x.column(k), x.column(k + 1), Two(static_cast<double>(x.values[k]), static_cast<double>(x.values[k + 1])));
    if (k < x.n_stored()) one(x.column(k), static_cast<double>(x.values[k]));
    if (x.bias != 0) one(x.n_features, x.bias);
  }
  double dot(const double* w) const {
    return sum([w](index_t j, double xj) { return w[j] * xj; });
  }
  double square() const {
    return sum([](index_t, double xj) { return xj * xj; });
  }
  /// Sum of change(w[j]) x_j over the features without the constant, with the same bits as `sum`. `change` takes double and Two.
  template <class Change>
  double sum_of(const double* w, Change change) const {
    return self().sum([&](index_t j, double xj) { return change(w[j]) * xj; }, [](index_t, double) { return 0.0; });
  }
  /// The sums of a_j x_j and of b_j x_j^2, with (a_j, b_j) at pairs[2 j].
  Two sum_of_pairs(const double* pairs) const {
    return sum([pairs](index_t j, double xj) { return Two::at(pairs + 2 * j) * Two(xj, xj * xj); });
  }
  /// The term of the constant feature in a sum.
  template <class Term>
  double of_constant(Term term) const {
    return self().bias != 0 ? term(self().n_features, self().bias) : 0;
  }

 private:
  const Row& self() const { return static_cast<const Row&>(*this); }
};

template <class Value>
struct DenseRow : RowOf<DenseRow<Value>> {
  const Value* values;
  index_t n_features;
  double bias;

  DenseRow(const Value* v, index_t n, double b) : values(v), n_features(n), bias(b) {}
  index_t n_stored() const { return n_features; }
  index_t column(index_t k) const { return k; }
  using RowOf<DenseRow>::sum;
  using RowOf<DenseRow>::each;

  /// Sum of term(j, x_j) over the features, plus constant(n_features, bias).
  template <class Term, class Constant>
  SumOf<Term> sum(Term term, Constant constant) const {
    SumOf<Term> acc[8] = {};  // partial sums let the compiler use vectors without fast-math
    index_t j = 0;
    for (; j + 8 <= n_features; j += 8)
      for (int k = 0; k < 8; ++k) acc[k] += term(j + k, static_cast<double>(values[j + k]));
    for (; j < n_features; ++j) acc[j & 3] += term(j, static_cast<double>(values[j]));
    const SumOf<Term> total = ((acc[0] + acc[4]) + (acc[1] + acc[5])) + ((acc[2] + acc[6]) + (acc[3] + acc[7]));
    return bias != 0 ? total + constant(n_features, bias) : total;
  }
  /// f(j, x_j) for every feature, then constant(n_features, bias).
  template <class F, class Constant>
  void each(F f, Constant constant) const {
    for (index_t j = 0; j < n_features; ++j) f(j, static_cast<double>(values[j]));
    if (bias != 0) constant(n_features, bias);
  }
};

template <class Value, class Column>
struct SparseRow : RowOf<SparseRow<Value, Column>> {
  static constexpr bool is_gathered = true;
  const Value* values;
  const Column* columns;
  index_t nnz, n_features;
  double bias;

  SparseRow(const Value* v, const Column* c, index_t m, index_t n, double b)
      : values(v), columns(c), nnz(m), n_features(n), bias(b) {}
  index_t n_stored() const { return nnz; }
  index_t column(index_t k) const { return static_cast<index_t>(columns[k]); }
  using RowOf<SparseRow>::sum;
  using RowOf<SparseRow>::each;

  template <class Term, class Constant>
  SumOf<Term> sum(Term term, Constant constant) const {
    SumOf<Term> acc[4] = {};  // four chains hide the latency of the additions
    index_t k = 0;
    for (; k + 4 <= nnz; k += 4)
      for (int i = 0; i < 4; ++i) acc[i] += term(static_cast<index_t>(columns[k + i]), static_cast<double>(values[k + i]));
    for (; k < nnz; ++k) acc[0] += term(static_cast<index_t>(columns[k]), static_cast<double>(values[k]));
    const SumOf<Term> total = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    return bias != 0 ? total + constant(n_features, bias) : total;
  }
  template <class Change>
  double sum_of(const double* w, Change change) const {
    const auto term = [&](index_t k) {
      return change(Two(w[columns[k]], w[columns[k + 1]])) *
             Two(static_cast<double>(values[k]), static_cast<double>(values[k + 1]));
    };
    Two one, other;  // four chains, as in sum
    index_t k = 0;
    for (; k + 4 <= nnz; k += 4) {
      one += term(k);
      other += term(k + 2);
    }
    double first = one.first();
    for (; k < nnz; ++k) first += change(w[columns[k]]) * static_cast<double>(values[k]);
    return (first + one.second()) + (other.first() + other.second());
  }
  Two sum_of_pairs(const double* pairs) const {
    const auto term = [&](index_t k, double x, double square) {
      return Two::at(pairs + 2 * index_t{columns[k]}) * Two(x, square);
    };
    Two acc[4];  // four chains, as in sum
    index_t k = 0;
    for (; k + 4 <= nnz; k += 4)
      for (int i = 0; i < 4; i += 2) {
        const Two x(static_cast<double>(values[k + i]), static_cast<double>(values[k + i + 1])), squares = x * x;
        acc[i] += term(k + i, x.first(), squares.first());
        acc[i + 1] += term(k + i + 1, x.second(), squares.second());
      }
    for (; k < nnz; ++k) {
      const auto x = static_cast<double>(values[k]);
      acc[0] += term(k, x, x * x);
    }
    const Two total = (acc[0] + acc[1]) + (acc[2] + acc[3]);
    return bias != 0 ? total + Two::at(pairs + 2 * n_features) * Two(bias, bias * bias) : total;
  }
  template <class F, class Constant>
  void each(F f, Constant constant) const {
    for (index_t k = 0; k < nnz; ++k) f(static_cast<index_t>(columns[k]), static_cast<double>(values[k]));
    if (bias != 0) constant(n_features, bias);
  }
};

/// Prefetches the cache lines of this many bytes, or of the first 4 KB.
THRESHER_INLINE void prefetch_bytes(const void* begin, double n_bytes) {
  const int n_lines = n_bytes < 4096 ? static_cast<int>(n_bytes) / 64 + 1 : 64;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);  // a pointer beyond the array would be undefined
  for (int k = 0; k < n_lines; ++k) prefetch_line(reinterpret_cast<const void*>(first + 64 * k));
}

/// Prefetches the values and columns of a row. Compiled once for all loops. Without keep_call(), GCC would drop the call, because
/// the function does nothing but prefetch.
THRESHER_APART inline void prefetch_row(const void* values, double n_value_bytes, const void* columns, double n_column_bytes) {
  keep_call();
  prefetch_bytes(values, n_value_bytes);
  if (columns) prefetch_bytes(columns, n_column_bytes);
}

/// The mean number of values of a row, and how many steps ahead rows are prefetched. This is about 8 KB, or 32 rows if they are
/// shorter than a cache line: learning from 8 KB of rows takes longer than memory takes to answer.
struct MeanRow {
  double n_values;
  index_t n_steps;
};
THRESHER_APART inline MeanRow mean_row(index_t n_rows, index_t n_values, std::size_t bytes_each) {
  const double n = n_rows == 0 ? 0 : static_cast<double>(n_values) / static_cast<double>(n_rows),
               bytes = n * static_cast<double>(bytes_each);
  return {n, bytes < 64 ? 32 : bytes > 4096 ? 1 : static_cast<index_t>(std::ceil(8192 / bytes))};
}

template <class Value>
struct DenseRows {
  const Value* values;
  index_t n_rows, n_features;

  DenseRow<Value> row(index_t i, double bias) const { return {values + i * n_features, n_features, bias}; }
  index_t n_values() const { return n_rows * n_features; }
  static constexpr bool gathers = false;  // is_gathered of its rows
  static constexpr std::size_t bytes_each = sizeof(Value);
  void prefetch(index_t i, double n) const { prefetch_row(values + i * n_features, n * sizeof(Value), nullptr, 0); }
};

template <class Value, class Column>
struct CsrRows {
  const Value* values;
  const Column* columns;
  const index_t* starts;
  index_t n_rows, n_features;

  SparseRow<Value, Column> row(index_t i, double bias) const {
    return {values + starts[i], columns + starts[i], starts[i + 1] - starts[i], n_features, bias};
  }
  index_t n_values() const { return starts[n_rows]; }
  static constexpr bool gathers = true;
  static constexpr std::size_t bytes_each = sizeof(Value) + sizeof(Column);
  void prefetch(index_t i, double n) const {
    prefetch_row(values + starts[i], n * sizeof(Value), columns + starts[i], n * sizeof(Column));
  }
};

/// Prefetches rows some steps ahead. Between reads of scattered weights, the hardware does not recognise rows in storage order,
/// so these are prefetched as well. Every row is assumed to have the mean length: a loop over its actual lines would mispredict
/// its end, which costs as much as it gains.
template <class Rows>
class Ahead {
 public:
  /// At least `least` steps ahead.
  explicit Ahead(const Rows& rows, index_t least = 0)
      : rows_(rows), mean_(mean_row(rows.n_rows, rows.n_values(), Rows::bytes_each)) {
    if (mean_.n_steps < least) mean_.n_steps = least;
  }
  /// Call at step t of a loop that ends before step `end`. A null `order` means storage order.
  THRESHER_INLINE void ask(const index_t* order, index_t t, index_t end) const {
    const index_t next = t + mean_.n_steps;
    if ((order || Rows::gathers) && next < end) rows_.prefetch(order ? order[next] : next, mean_.n_values);
  }

 private:
  const Rows& rows_;
  MeanRow mean_;
};

/// The layouts that loops are compiled for. Columns of 64 bits are converted to 32 bits on input: to compile for both would make
/// the loops half as large again.
using AnyRows = std::variant<DenseRows<double>, DenseRows<float>, CsrRows<double, column_t>, CsrRows<float, column_t>>;

}  // namespace thresher
