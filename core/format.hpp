// Rows -> svmlight text. Every number is written as the shortest text that reads back as the same bits; whole numbers have no
// ".0".
#pragma once

#include <charconv>
#include <cmath>
#include <cstdint>
#include <stdexcept>
#include <string>

#include "growing.hpp"
#include "watch.hpp"

namespace thresher {

template <class Value, class Index> struct CsrView {
  const Value* values;
  const Index* columns;
  const std::int64_t* starts;  // n_rows + 1 entries
  const double* targets;
  std::int64_t n_rows, n_values;
};

namespace format_detail {

inline void refuse(std::int64_t row, const char* what) {
  throw std::invalid_argument("row " + std::to_string(row) + ": " + what);
}

template <class Number> char* write(char* p, Number number) { return std::to_chars(p, p + 32, number).ptr; }

/// Numbers with up to seven decimals, as in most files, are found by trial: m / 10^7 is rounded once, and no two decimals of 15
/// digits round to the same double, so text that reads back correctly is also the shortest. Twice as fast as to_chars.
inline char* write(char* p, double number) {
  const double size = std::abs(number);
  if (!(size >= 1e-3 && size < 1e8)) return std::to_chars(p, p + 32, number).ptr;
  const auto m = static_cast<std::uint64_t>(size * 1e7 + 0.5);
  if (static_cast<double>(m) / 1e7 != size) return std::to_chars(p, p + 32, number).ptr;
  if (number < 0) *p++ = '-';
  p = std::to_chars(p, p + 32, m / 10000000).ptr;
  std::uint64_t fraction = m % 10000000;
  if (fraction == 0) return p;
  *p = '.';
  for (int i = 7; i > 0; --i, fraction /= 10) p[i] = static_cast<char>('0' + fraction % 10);
  for (p += 7; *p == '0'; --p) {}
  return p + 1;
}

}  // namespace format_detail

/// Checks all arrays: decreasing starts or starts outside the arrays, negative columns, and numbers that a reader would reject
/// raise errors that name the row.
template <class Value, class Index>
Growing<char> format_svmlight(const CsrView<Value, Index>& rows, bool zero_based) {
  using namespace format_detail;
  constexpr std::size_t longest = 64;  // " index:value": 20 digits, two marks, and at most 24 characters for a double
  Growing<char> text;
  Watch watch;
  for (std::int64_t i = 0; i < rows.n_rows; ++i) {
    watch.tick();
    const std::int64_t begin = rows.starts[i], end = rows.starts[i + 1];
    if (begin < 0 || end < begin || end > rows.n_values) refuse(i, "its start and end do not lie within the values.");
    if (!std::isfinite(rows.targets[i])) refuse(i, "a target must be a finite number.");
    char* const line = text.room((static_cast<std::size_t>(end - begin) + 1) * longest);
    char* p = write(line, rows.targets[i]);
    for (std::int64_t k = begin; k < end; ++k) {
      if (rows.columns[k] < 0) refuse(i, "a column must not be negative.");
      if (!std::isfinite(rows.values[k])) refuse(i, "a value must be a finite number.");
      *p++ = ' ';
      p = write(p, static_cast<std::uint64_t>(rows.columns[k]) + (zero_based ? 0 : 1));
      *p++ = ':';
      p = write(p, rows.values[k]);
    }
    *p++ = '\n';
    text.commit(static_cast<std::size_t>(p - line));
  }
  return text;
}

}  // namespace thresher
