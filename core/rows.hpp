// Read-only views of training rows. A Row offers dot(w), square(), sum(term) and each(f); nothing else in the core knows whether data is
// dense or sparse, nor in which precision it is stored.
//
// A row may carry a constant feature of value `bias`, whose weight is stored after the last column (index n_features).
// 0 switches it off.
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

/// What terms add up to: numbers, or two at a time.
template <class Term>
using SumOf = std::conditional_t<std::is_same_v<std::invoke_result_t<Term, index_t, double>, Two>, Two, double>;

/// What both layouts build on sum and each.
template <class Row>
struct RowOf {
  static constexpr bool is_gathered = false;  // whether weights are read here and there, so that each look costs time
  /// Sum of term(j, x_j) over the features and the constant one.
  template <class Term>
  SumOf<Term> sum(Term term) const {
    return self().sum(term, term);
  }
  template <class F>
  void each(F f) const {
    self().each(f, f);
  }
  /// two(j, k, (x_j, x_k)) for two features at a time, then one(j, x_j) for the last of an odd number and the constant one.
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
  /// Sum of change(w[j]) x_j over the features, for a `change` of numbers and of Two, with the bits of `sum`.
  template <class Change>
  double sum_of(const double* w, Change change) const {
    return self().sum([&](index_t j, double xj) { return change(w[j]) * xj; }, [](index_t, double) { return 0.0; });
  }
  /// The part of a sum that is the constant feature's.
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
  template <class F, class Constant>
  void each(F f, Constant constant) const {
    for (index_t k = 0; k < nnz; ++k) f(static_cast<index_t>(columns[k]), static_cast<double>(values[k]));
    if (bias != 0) constant(n_features, bias);
  }
};

/// Ask for the cache lines of this many bytes, or of the first 4 KB.
THRESHER_INLINE void prefetch_bytes(const void* begin, double n_bytes) {
  const int n_lines = n_bytes < 4096 ? static_cast<int>(n_bytes) / 64 + 1 : 64;
  const auto first = reinterpret_cast<std::uintptr_t>(begin);  // lines beyond an array may be asked for, pointers there not made
  for (int k = 0; k < n_lines; ++k) prefetch_line(reinterpret_cast<const void*>(first + 64 * k));
}

/// The same of a row's values and columns. Compiled once for all loops; GCC would drop calls of a function that does nothing else.
THRESHER_APART inline void prefetch_row(const void* values, double n_value_bytes, const void* columns, double n_column_bytes) {
  keep_call();
  prefetch_bytes(values, n_value_bytes);
  if (columns) prefetch_bytes(columns, n_column_bytes);
}

/// How many values a row has on average, and how many steps before its turn it is asked for: memory answers in about the time it takes to
/// learn from 4 KB of rows.
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
  static constexpr bool gathers = false;  // whether weights are read here and there
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

/// Asks for rows some steps before their turn. Where weights are read here and there, the hardware does not see that rows come one after
/// the other, so they are asked for as well. What is asked for is a row of mean length: the end of a loop over the lines of each row would
/// be mispredicted, which costs as much as it gains.
template <class Rows>
class Ahead {
 public:
  /// At least so many steps before.
  explicit Ahead(const Rows& rows, index_t least = 0)
      : rows_(rows), mean_(mean_row(rows.n_rows, rows.n_values(), Rows::bytes_each)) {
    if (mean_.n_steps < least) mean_.n_steps = least;
  }
  /// At step t of a loop that ends before step `end`; without an order, rows come as they lie.
  THRESHER_INLINE void ask(const index_t* order, index_t t, index_t end) const {
    const index_t next = t + mean_.n_steps;
    if ((order || Rows::gathers) && next < end) rows_.prefetch(order ? order[next] : next, mean_.n_values);
  }

 private:
  const Rows& rows_;
  MeanRow mean_;
};

/// What loops are compiled for. Columns of 64 bits become columns of 32 bits when rows are taken in: compiled for both, the
/// loops would take half as much room again.
using AnyRows = std::variant<DenseRows<double>, DenseRows<float>, CsrRows<double, column_t>, CsrRows<float, column_t>>;

}  // namespace thresher
