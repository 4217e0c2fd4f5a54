// Checks and sums the matrices of a stack in one pass over memory.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <utility>

#include "kernel_stack.hpp"

namespace thresher {

/// The largest absolute value of some entries, which ignores NaN, and whether any differs from its mirror image, as NaN always
/// does.
struct SquareNotes {
  Four most = {};
#if THRESHER_GNU
  using Bits = std::int64_t __attribute__((vector_size(32)));
  Bits differ = {};

  THRESHER_INLINE void size_up(const Four& some) {
    const Four size = reinterpret_cast<Four>(reinterpret_cast<Bits>(some) & kSize);
    most = size > most ? size : most;
  }
  THRESHER_INLINE void compare(const Four& below, const Four& above) { differ |= below != above; }
  void add(const SquareNotes& other) {
    size_up(other.most);
    differ |= other.differ;
  }

 private:
  static constexpr std::int64_t kSize = 0x7fffffffffffffff;
#else
  std::int64_t differ[4] = {};

  void size_up(const Four& some) {
    for (int k = 0; k < 4; ++k) most.each[k] = std::fabs(some[k]) > most[k] ? std::fabs(some[k]) : most[k];
  }
  void compare(const Four& below, const Four& above) {
    for (int k = 0; k < 4; ++k) differ[k] |= below[k] != above[k];
  }
  void add(const SquareNotes& other) {
    size_up(other.most);
    for (int k = 0; k < 4; ++k) differ[k] |= other.differ[k];
  }
#endif
};

/// Reads the lower triangle square by square, together with the mirror images, and prefetches the next square.
template <class Value>
class StackLook {
 public:
  double *most, *diagonals, *factors, *sum;  // adds factor_q (K_q + K_q') / 2 to the lower triangle of `sum`
  bool* same;                                // whether a matrix equals its transpose

  StackLook(double* most_of, double* diagonals_of, double* factors_of, double* sum_of, bool* same_of)
      : most(most_of), diagonals(diagonals_of), factors(factors_of), sum(sum_of), same(same_of) {}

  /// Takes `n_matrices` matrices of the layout of `first`, each `apart` values after the one before.
  void take(const Strided<Value>& first, index_t n_matrices, index_t apart) {
    const index_t n = first.n_rows;
    for (index_t q = 0; q < n_matrices; ++q) {
      Strided<Value> here = first;
      here.values += q * apart;
      if (here.row_step == 1) std::swap(here.row_step, here.column_step);  // works on the transpose, which has the same results
      double trace = 0;
      for (index_t i = 0; i < n; ++i) trace += diagonals[q * n + i] = static_cast<double>(here.at(i, i));
      factors[q] = trace > 0 && std::isfinite(1 / trace) ? 1 / trace : 0;
      SquareNotes notes;
      if (here.column_step == 1 && columns_detail::wide())
        look_wide(here, q + 1 < n_matrices ? apart : 0, 0.5 * factors[q], notes);
      else look(here, q + 1 < n_matrices ? apart : 0, here.column_step, 0.5 * factors[q], notes);
      finish(here, notes, q);
    }
  }

 private:
  static constexpr index_t kSide = 32, kLine = 64 / sizeof(Value);

  THRESHER_INLINE void look(const Strided<Value>& m, index_t apart, index_t along, double half, SquareNotes& found) {
    const index_t n = m.n_rows, down = m.row_step;
    const Value* const values = m.values;
    double* const total = sum;
    SquareNotes notes;  // a local copy stays in registers
    for (index_t top = 0; top < n; top += kSide)
      for (index_t left = 0; left <= top; left += kSide) {
        index_t next_top = top, next_left = left + kSide;
        if (next_left > next_top) next_top += kSide, next_left = 0;
        Strided<Value> ahead = m;
        if (next_top >= n) next_top = 0, ahead.values += apart;
        for (index_t i = top; i < std::min(n, top + kSide); i += 4) {
          ask_for(ahead, along, next_top + i - top, next_left);
          if (next_left < next_top) ask_for(ahead, along, next_left + i - top, next_top);
          const index_t over = std::max(index_t{0}, i + 4 - n), from = i - over;  // rows before i are only compared again
          const index_t end = std::min(i + 4, left + kSide);
          index_t j = left;
          if (from >= 0)
            for (; j < end && j + 4 <= n; j += 4)
              square(values + from * down + j * along, values + j * down + from * along, down, along, half, over,
                     total + from * n + j, n, notes);
          if (j < end) corner(m, i, j, half, found);
        }
      }
    found.add(notes);
  }
#if defined(__x86_64__) && THRESHER_GNU
  [[gnu::target("avx2")]]
#endif
  void look_wide(const Strided<Value>& m, index_t apart, double half, SquareNotes& notes) {
    look(m, apart, 1, half, notes);
  }

  /// Prefetches a part of four rows, which need not start at a cache line.
  THRESHER_INLINE static void ask_for(const Strided<Value>& m, index_t along, index_t top, index_t left) {
    const index_t step = along == 1 ? kLine : 1, end = std::min(left + kSide, m.n_columns);
    for (index_t i = top; i < std::min(top + 4, m.n_rows); ++i)
      for (index_t j = left; j < end + step - 1; j += step)
        prefetch_line(m.values + i * m.row_step + std::min(j, end - 1) * along);
  }
  /// Compares four rows of four entries with their mirror images, and adds both, except for the first `without` rows.
  template <class Entry>
  THRESHER_INLINE static void square(const Entry* below, const Entry* above, index_t down, index_t along, double half,
                                     index_t without, double* to, index_t to_down, SquareNotes& notes) {
    Four a, b, c, d;
    take_four(above, along, a);
    take_four(above + down, along, b);
    take_four(above + 2 * down, along, c);
    take_four(above + 3 * down, along, d);
    turn(a, b, c, d);
    row(below, a, along, without > 0 ? 0 : half, to, notes);
    row(below + down, b, along, without > 1 ? 0 : half, to + to_down, notes);
    row(below + 2 * down, c, along, without > 2 ? 0 : half, to + 2 * to_down, notes);
    row(below + 3 * down, d, along, half, to + 3 * to_down, notes);
  }
  template <class Entry>
  THRESHER_INLINE static void row(const Entry* from, const Four& above, index_t along, double half, double* to,
                                  SquareNotes& notes) {
    Four below, sum_here;
    take_four(from, along, below);
    columns_detail::load(to, sum_here);
    notes.size_up(below);
    notes.compare(below, above);
    Four both = below;
    both += above;
    sum_here += half * both;
    std::memcpy(to, &sum_here, sizeof sum_here);
  }
  template <class Entry>
  THRESHER_INLINE static void take_four(const Entry* from, index_t step, Four& to) {
    if (step == 1) columns_detail::load(from, to);
    else
      to = Four{static_cast<double>(from[0]), static_cast<double>(from[step]), static_cast<double>(from[2 * step]),
                static_cast<double>(from[3 * step])};
  }
  /// Transposes a 4 x 4 block in place.
  THRESHER_INLINE static void turn(Four& a, Four& b, Four& c, Four& d) {
#if THRESHER_GNU && (defined(__clang__) || __GNUC__ >= 12)
    const Four p = __builtin_shufflevector(a, b, 0, 4, 2, 6), q = __builtin_shufflevector(a, b, 1, 5, 3, 7),
               r = __builtin_shufflevector(c, d, 0, 4, 2, 6), s = __builtin_shufflevector(c, d, 1, 5, 3, 7);
    a = __builtin_shufflevector(p, r, 0, 1, 4, 5);
    b = __builtin_shufflevector(q, s, 0, 1, 4, 5);
    c = __builtin_shufflevector(p, r, 2, 3, 6, 7);
    d = __builtin_shufflevector(q, s, 2, 3, 6, 7);
#else
    const Four p = a, q = b, r = c, s = d;
    a = Four{p[0], q[0], r[0], s[0]};
    b = Four{p[1], q[1], r[1], s[1]};
    c = Four{p[2], q[2], r[2], s[2]};
    d = Four{p[3], q[3], r[3], s[3]};
#endif
  }
  /// Calls square() on a padded copy where a full block would exceed the matrix.
  THRESHER_APART void corner(const Strided<Value>& m, index_t top, index_t left, double half, SquareNotes& notes) {
    double below[16] = {}, above[16] = {}, to[16] = {};
    const auto each = [&](auto visit) {
      for (index_t i = top; i < m.n_rows; ++i)
        for (index_t j = left; j < std::min(left + 4, m.n_columns); ++j) visit(i, j, 4 * (i - top) + j - left);
    };
    each([&](index_t i, index_t j, index_t k) {
      below[k] = static_cast<double>(m.at(i, j));
      above[4 * (j - left) + i - top] = static_cast<double>(m.at(j, i));
      to[k] = sum[i * m.n_rows + j];
    });
    square(below, above, 4, 1, half, 0, to, 4, notes);
    each([&](index_t i, index_t j, index_t k) { sum[i * m.n_rows + j] = to[k]; });
  }
  void finish(const Strided<Value>& m, const SquareNotes& notes, index_t q) {
    bool differ = false, defined = true;
    auto largest = static_cast<Value>(notes.most[0]);
    for (int k = 0; k < 4; ++k) {
      differ |= notes.differ[k] != 0;
      largest = std::max(largest, static_cast<Value>(notes.most[k]));
    }
    if (differ)  // perhaps because of NaN, and sizes above the diagonal are unknown
      for (index_t i = 0; i < m.n_rows; ++i)
        for (index_t j = 0; j < m.n_columns; ++j) {
          defined &= !std::isnan(m.at(i, j));
          largest = std::max(largest, static_cast<Value>(std::fabs(m.at(i, j))));
        }
    most[q] = defined ? static_cast<double>(largest) : std::numeric_limits<double>::quiet_NaN();
    same[q] = !differ;
  }
};

}  // namespace thresher
