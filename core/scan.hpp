// Checks every stored value before a loop relies on it: finite values in the accepted range; columns in range, sorted and unique.
#pragma once
#include <algorithm>
#include <atomic>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <vector>

#include "threads.hpp"

namespace thresher {

enum class Fault { none, starts, range, order, value };

struct Finding {
  Fault fault = Fault::none;
  index_t row = 0, column = 0;
  double value = 0;  // the value found there
};

constexpr const char* refused = "these rows were refused: see Rows.fault";
constexpr double huge = 1e100;  // larger values are rejected: their squares must not overflow
inline bool usable(double v) { return std::fabs(v) <= huge; }

/// True if every |x| is at most `bound`. Multiplying a larger double by max / bound overflows, and then x - x is not 0. One sum
/// finds this without a branch.
template <int N, class Value>
THRESHER_INLINE bool all_within_by(const Value* values, index_t n, double bound) {
  const Value lift = sizeof(Value) == 8 ? static_cast<Value>(std::numeric_limits<double>::max() / bound) : Value(1);
  Value acc[N] = {};
  const auto trace = [lift](Value v) {
    const Value u = v * lift;
    return u - u;
  };
  index_t k = 0;
  for (; k + N <= n; k += N)
    for (int i = 0; i < N; ++i) acc[i] += trace(values[k + i]);
  for (; k < n; ++k) acc[0] += trace(values[k]);
  for (int i = 1; i < N; ++i) acc[0] += acc[i];
  return acc[0] == 0;
}
template <class Value>
THRESHER_AVX2 bool all_within_wide(const Value* values, index_t n, double bound) {
  return all_within_by<16>(values, n, bound);
}
template <class Value>
bool all_within(const Value* values, index_t n, double bound) {
  return is_wide() ? all_within_wide(values, n, bound) : all_within_by<8>(values, n, bound);
}

/// The same in several threads, if there are enough values.
template <class Value>
bool all_usable(const Value* values, index_t n) {
  std::atomic<bool> usable{true};
  in_parts(n, n, [&](index_t begin, index_t end) {
    if (!all_within(values + begin, end - begin, huge)) usable = false;
  });
  return usable;
}

template <class Value>
Finding scan_values(const DenseRows<Value>& x) {
  if (all_usable(x.values, x.n_values())) return {};
  for (index_t i = 0; i < x.n_rows; ++i)
    for (index_t j = 0; j < x.n_features; ++j) {
      const double v = x.values[i * x.n_features + j];
      if (!usable(v)) return {Fault::value, i, j, v};
    }
  return {};
}

template <class Value, class Column>
Finding scan_values(const CsrRows<Value, Column>& x) {
  if (all_usable(x.values, x.n_values())) return {};
  for (index_t i = 0; i < x.n_rows; ++i)
    for (index_t k = x.starts[i]; k < x.starts[i + 1]; ++k)
      if (!usable(x.values[k])) return {Fault::value, i, static_cast<index_t>(x.columns[k]), static_cast<double>(x.values[k])};
  return {};
}

/// The number of columns, of n, that do not exceed the previous one.
template <class Column>
THRESHER_INLINE index_t count_falls(const Column* c, index_t n) {
  constexpr index_t few = 1 << 20;
  index_t total = 0;
  for (index_t begin = 1; begin < n; begin += few) {
    std::uint32_t count = 0;  // as wide as most columns, so that the compiler can vectorise
    for (index_t k = begin, end = n - begin < few ? n : begin + few; k < end; ++k) count += c[k] <= c[k - 1];
    total += count;
  }
  return total;
}
template <class Column>
THRESHER_AVX2 index_t count_falls_wide(const Column* c, index_t n) {
  return count_falls(c, n);
}

/// Whether the columns of rows begin ... end are in range, and sorted and unique in each row, so that they fall only where a row
/// starts. One sweep over all values counts the falls without regard to rows, since a loop over each row would mispredict its
/// end.
template <class Value, class Column>
bool rise(const CsrRows<Value, Column>& x, index_t begin, index_t end) {
  const Column* c = x.columns;
  const index_t first = x.starts[begin];
  index_t left = is_wide() ? count_falls_wide(c + first, x.starts[end] - first) : count_falls(c + first, x.starts[end] - first);
  bool inside = true;
  for (index_t i = begin; i < end; ++i) {
    const index_t from = x.starts[i], to = x.starts[i + 1];
    if (from == to) continue;
    inside &= (c[from] >= 0) & (static_cast<index_t>(c[to - 1]) < x.n_features);
    left -= from > first && c[from] <= c[from - 1];
  }
  return inside && left == 0;
}

/// `n_stored` is the length of values and columns; starts has n_rows + 1 entries.
template <class Value, class Column>
Finding scan_starts(const CsrRows<Value, Column>& x, index_t n_stored) {
  if (x.starts[0] != 0) return {Fault::starts, 0, 0, static_cast<double>(x.starts[0])};
  for (index_t i = 0; i < x.n_rows; ++i)
    if (x.starts[i + 1] < x.starts[i] || x.starts[i + 1] > n_stored)
      return {Fault::starts, i, 0, static_cast<double>(x.starts[i + 1])};
  return {};
}
template <class Value, class Column>
Finding scan_structure(const CsrRows<Value, Column>& x, index_t n_stored) {
  const Finding finding = scan_starts(x, n_stored);
  if (finding.fault != Fault::none) return finding;
  std::atomic<bool> all_rise{true};
  in_parts(x.n_rows, x.n_values(), [&](index_t begin, index_t end) {
    constexpr index_t few = 256;  // these stay in the cache from the first sweep to the second
    for (index_t i = begin; i < end && all_rise; i += few)
      if (!rise(x, i, end - i < few ? end : i + few)) all_rise = false;
  });
  if (all_rise) return {};
  for (index_t k = 0, i = 0; k < x.n_values(); ++k) {
    while (k >= x.starts[i + 1]) ++i;
    const auto j = static_cast<index_t>(x.columns[k]);
    if (j < 0 || j >= x.n_features) return {Fault::range, i, j, 0};
  }
  return {Fault::order, 0, 0, 0};  // which sorting repairs
}

/// All that can be wrong; with `look`, values as well.
template <class Value>
Finding scan(const DenseRows<Value>& x, index_t, bool look) {
  return look ? scan_values(x) : Finding();
}
template <class Value, class Column>
Finding scan(const CsrRows<Value, Column>& x, index_t n_stored, bool look) {
  const Finding finding = scan_structure(x, n_stored);
  if (!look || (finding.fault != Fault::none && finding.fault != Fault::order)) return finding;
  const Finding of_values = scan_values(x);
  return of_values.fault == Fault::none ? finding : of_values;
}

/// Whether nothing is wrong with rows begin ... end, if their starts are right.
template <class Value>
bool flawless(const DenseRows<Value>& x, index_t begin, index_t end) {
  return all_within(x.values + begin * x.n_features, (end - begin) * x.n_features, huge);
}
template <class Value, class Column>
bool flawless(const CsrRows<Value, Column>& x, index_t begin, index_t end) {
  return rise(x, begin, end) && all_within(x.values + x.starts[begin], x.starts[end] - x.starts[begin], huge);
}

/// Rows that the first pass checks when it comes to them, a block at a time, so that their values are read from memory once.
/// Several passes may share it.
class Unchecked {
 public:
  Unchecked(index_t n_rows, index_t n_values, std::size_t bytes_each)
      : n_rows_(n_rows), shift_(shift_of(mean_row(n_rows, n_values, bytes_each).n_values * static_cast<double>(bytes_each))),
        checked_(static_cast<std::size_t>((n_rows >> shift_) + 1)),
        n_left_(static_cast<std::size_t>((n_rows + size() - 1) >> shift_)) {}
  /// Whether nothing is wrong with the block of row i.
  template <class Rows>
  bool passes(const Rows& rows, index_t i) {
    const auto block = static_cast<std::size_t>(i >> shift_);
    return checked_[block].load(std::memory_order_relaxed) || check(rows, block);
  }
  bool is_over() const { return n_left_ == 0; }
  /// Nothing is left to check, because all rows were looked at in another way.
  void end() { n_left_ = 0; }
  /// The number of rows in a block.
  index_t size() const { return index_t{1} << shift_; }
  /// The row at which the block after that of row i begins.
  index_t next_block(index_t i) const { return ((i >> shift_) + 1) << shift_; }

 private:
  /// At most 64 rows, which are shuffled together, and about 64 KB.
  static int shift_of(double bytes) {
    int shift = 6;
    while (shift > 0 && bytes * (1 << shift) > 65536) --shift;
    return shift;
  }
  template <class Rows>
  THRESHER_APART bool check(const Rows& rows, std::size_t block) {
    const index_t begin = static_cast<index_t>(block) << shift_;
    if (!flawless(rows, begin, std::min(n_rows_, begin + size()))) return false;
    if (!checked_[block].exchange(1) && n_left_ > 0) --n_left_;
    return true;
  }

  index_t n_rows_;
  int shift_;
  std::vector<std::atomic<unsigned char>> checked_;
  std::atomic<std::size_t> n_left_;
};

/// Checks the block of row `from`, and throws at a fault. Returns where the next block begins, or `end`.
template <class Rows>
THRESHER_APART index_t checked_until(const Rows& rows, index_t from, index_t end, Unchecked* unchecked) {
  if (!unchecked) return end;
  if (!unchecked->passes(rows, from)) throw std::invalid_argument(refused);
  return std::min(end, unchecked->next_block(from));
}

/// in_parts over rows that may still have to be checked: block by block, each before f sees it.
template <class Rows, class F>
void in_checked_parts(const Rows& rows, index_t n_values, Unchecked* unchecked, F f) {
  in_parts(rows.n_rows, n_values, [&](index_t begin, index_t end) {
    for (index_t from = begin, to = end; from < end; from = to) {
      to = checked_until(rows, from, end, unchecked);
      f(from, to);
    }
  });
}

}  // namespace thresher
