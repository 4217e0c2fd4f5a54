// The two loops over all variables in a step of sequential minimal optimisation, vectorised.
//
// The compiler turns loops over groups of fixed length into vector instructions. The results for one variable do not depend on
// the others, so the bits are the same for every vector width.
#pragma once
#include <algorithm>
#include <limits>

#include "compiler.hpp"
#include "rows.hpp"

namespace thresher {
namespace box_sides {

constexpr int kSideBySide = 16;  // variables per group

/// The rates of a block, the other costs of its variables, and signs.
struct Rates {
  double* rate;
  const double *up, *down, *sign;
};
struct Least {
  double up, down;
  index_t at;  // the position of the first
};
struct Partner {
  double gain;
  index_t at;
};

/// For each place in a group, the best number so far and the position where it first occurred.
struct Bests {
  double value[kSideBySide];
  index_t group[kSideBySide];

  explicit Bests(double begin) {
    for (int i = 0; i < kSideBySide; ++i) value[i] = begin, group[i] = 0;
  }
  /// Records a number for place i of the group at p if it is better.
  THRESHER_INLINE void note(int i, index_t p, double number, bool better) {
    const index_t mask = -static_cast<index_t>(better);
    group[i] = (p & mask) | (group[i] & ~mask);
    value[i] = better ? number : value[i];
  }
  template <class Better>
  THRESHER_INLINE void best(double& number, index_t& at, Better better) const {
    number = value[0], at = group[0];
    for (int i = 1; i < kSideBySide; ++i)
      if (better(value[i], number) || (value[i] == number && group[i] + i < at)) number = value[i], at = group[i] + i;
  }
};

template <class Row>
THRESHER_INLINE void move_body(const Rates& in, index_t length, const Row* first, const Row* second, double of_first,
                               double of_second, Least& found) {
  Bests up(std::numeric_limits<double>::infinity());
  double down[kSideBySide];
  for (int i = 0; i < kSideBySide; ++i) down[i] = up.value[i];
  const auto move = [&](index_t a) { in.rate[a] += in.sign[a] * (of_first * first[a] - of_second * second[a]); };
  const auto visit = [&](index_t p, int i) {
    const double rate = in.rate[p + i], ahead = rate + in.up[p + i], back = in.down[p + i] - rate;
    up.note(i, p, ahead, ahead < up.value[i]);
    down[i] = back < down[i] ? back : down[i];
  };
  index_t p = 0;
  for (; p + kSideBySide <= length; p += kSideBySide) {
    if (first)
      for (int i = 0; i < kSideBySide; ++i) move(p + i);
    for (int i = 0; i < kSideBySide; ++i) visit(p, i);
  }
  for (int i = 0; p + i < length; ++i) {
    if (first) move(p + i);
    visit(p, i);
  }
  up.best(found.up, found.at, [](double a, double b) { return a < b; });
  found.down = *std::min_element(down, down + kSideBySide);
}

/// The variable that gains most by moving down while the one with rate `least` moves up, given the latter's row of K.
template <class Row>
THRESHER_INLINE void partner_body(const Rates& in, const double* own, index_t length, const Row* row, double least, double d,
                                  double twice, Partner& found) {
  Bests most(0.0);
  const auto visit = [&](index_t p, int i) {
    const index_t a = p + i;
    const double slope = least + in.down[a] - in.rate[a], sum = d + own[a];
    const double bent = sum - twice * in.sign[a] * row[a], flat = 1e-12 * sum + 1e-300;
    const double gain = slope * slope / (bent > flat ? bent : flat);
    most.note(i, p, gain, (slope < 0) & (gain > most.value[i]));
  };
  index_t p = 0;
  for (; p + kSideBySide <= length; p += kSideBySide)
    for (int i = 0; i < kSideBySide; ++i) visit(p, i);
  for (int i = 0; p + i < length; ++i) visit(p, i);
  most.best(found.gain, found.at, [](double a, double b) { return a > b; });
}

#if defined(__x86_64__) && THRESHER_GNU
template <class Row>
[[gnu::target("avx2")]] void move_wide(const Rates& in, index_t length, const Row* first, const Row* second, double of_first,
                                       double of_second, Least& found) {
  move_body(in, length, first, second, of_first, of_second, found);
}
template <class Row>
[[gnu::target("avx2")]] void partner_wide(const Rates& in, const double* own, index_t length, const Row* row, double least,
                                          double d, double twice, Partner& found) {
  partner_body(in, own, length, row, least, d, twice, found);
}
inline bool wide() { return __builtin_cpu_supports("avx2"); }
#else
template <class... Arguments>
void move_wide(Arguments&&... arguments) {
  move_body(arguments...);
}
template <class... Arguments>
void partner_wide(Arguments&&... arguments) {
  partner_body(arguments...);
}
inline bool wide() { return true; }
#endif

/// Adds multiples of two rows to the rates, if there are any, and finds the least rates.
template <class Row>
Least move(const Rates& in, index_t length, const Row* first, const Row* second, double of_first, double of_second) {
  Least found{};
  if (wide()) move_wide(in, length, first, second, of_first, of_second, found);
  else move_body(in, length, first, second, of_first, of_second, found);
  return found;
}
template <class Row>
Partner partner(const Rates& in, const double* own, index_t length, const Row* row, double least, double d, double twice) {
  Partner found{};
  if (wide()) partner_wide(in, own, length, row, least, d, twice, found);
  else partner_body(in, own, length, row, least, d, twice, found);
  return found;
}

}  // namespace box_sides
}  // namespace thresher
