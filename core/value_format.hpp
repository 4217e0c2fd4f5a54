// Numbers, dates and truth values as people write them: "1.234,50 €", "(12)", "31.12.2024 17:45", "yes".
#pragma once

#include <cmath>
#include <limits>
#include <string>
#include <vector>

#include "csv_field.hpp"
#include "date_pattern.hpp"
#include "number.hpp"

namespace thresher {

/// How the values of one column are written. Each becomes a double: dates are days since 1970-01-01, times of day are hours,
/// truth values are 0 and 1, and missing values are NaN.
struct ValueFormat {
  enum class Kind : char { number, date, boolean };

  Kind kind = Kind::number;
  char decimal = '.', thousands = 0;  // thousands: 0 for none; blank and apostrophe include their Unicode forms
  std::string unit;                   // before or behind a number
  std::string pattern;                // of a date, see DatePattern
  std::vector<std::string> yes, no;   // words for truth values, in lower case
  std::vector<std::string> missing;   // further words for a missing value, as written

  /// Whether [begin, end) is a value of this format or missing.
  bool read(const char* begin, const char* end, double& x) const {
    trim(begin, end);
    x = std::numeric_limits<double>::quiet_NaN();
    if (is_missing(begin, end)) return true;
    if (kind == Kind::date) return DatePattern{pattern.data(), pattern.data() + pattern.size()}.read(begin, end, x);
    if (kind == Kind::boolean) return read_boolean(begin, end, x);
    return read_number(begin, end, x) && std::isfinite(x);
  }

 private:
  static constexpr std::size_t longest_number = 64;

  static bool is_word(const char* begin, const char* end, const std::vector<std::string>& words) {
    for (const std::string& word : words)
      if (says(begin, end, word.c_str())) return true;
    return false;
  }

  bool is_missing(const char* begin, const char* end) const {
    if (says_missing(begin, end)) return true;
    const auto size = static_cast<std::size_t>(end - begin);
    for (const std::string& mark : missing)
      if (mark.size() == size && std::equal(begin, end, mark.begin())) return true;
    return false;
  }

  bool read_boolean(const char* begin, const char* end, double& x) const {
    if (is_word(begin, end, yes)) x = 1;
    else if (is_word(begin, end, no)) x = 0;
    else return false;
    return true;
  }

  /// Length of a blank at p: a space, a tab, or one of the typographic spaces between digits. 0 if there is none.
  static std::size_t blank_at(const char* p, const char* end) {
    if (p < end && is_blank(*p)) return 1;
    for (const char* space : {"\xc2\xa0", "\xe2\x80\xaf", "\xe2\x80\x89"})  // no-break, narrow no-break, thin
      if (starts_with(p, end, space)) return std::strlen(space);
    return 0;
  }

  static bool starts_with(const char* p, const char* end, const char* word) {
    const std::size_t size = std::strlen(word);
    return static_cast<std::size_t>(end - p) >= size && std::memcmp(p, word, size) == 0;
  }

  static void trim(const char*& begin, const char*& end) {
    while (const std::size_t n = blank_at(begin, end)) begin += n;
    for (bool more = true; more && begin < end;) {
      more = false;
      for (std::ptrdiff_t n = 1; n <= 3 && n <= end - begin && !more; ++n)
        if (blank_at(end - n, end) == static_cast<std::size_t>(n)) end -= n, more = true;
    }
  }

  bool take_unit(const char*& begin, const char*& end) const {
    if (unit.empty() || static_cast<std::size_t>(end - begin) < unit.size()) return false;
    const auto size = static_cast<std::ptrdiff_t>(unit.size());
    if (std::equal(unit.begin(), unit.end(), begin)) begin += size;
    else if (std::equal(unit.begin(), unit.end(), end - size)) end -= size;
    else return false;
    trim(begin, end);
    return true;
  }

  static bool take_sign(const char*& p, const char* end, bool& negative) {
    if (p < end && (*p == '-' || *p == '+')) negative ^= *p++ == '-';
    else if (starts_with(p, end, "\xe2\x88\x92")) p += 3, negative = !negative;  // the Unicode minus sign
    else return false;
    while (const std::size_t n = blank_at(p, end)) p += n;
    return true;
  }

  /// Signs, brackets (for negative numbers in accounting) and the unit may surround the digits in any order.
  bool read_number(const char* p, const char* end, double& x) const {
    bool negative = false;
    if (end - p > 2 && *p == '(' && end[-1] == ')') {
      ++p, --end, negative = true;
      trim(p, end);
    }
    const bool with_sign = take_sign(p, end, negative);
    if (take_unit(p, end) && !with_sign) take_sign(p, end, negative);
    char text[longest_number];
    const std::size_t n = plain(p, end, text);
    if (n == 0 || !(is_digit(text[0]) || text[0] == '.') || scan_number(text, text + n, x) != text + n) return false;
    if (negative) x = -x;
    return true;
  }

  std::size_t separator_at(const char* p, const char* end) const {
    if (thousands == 0) return 0;
    if (thousands == ' ') return blank_at(p, end);
    if (thousands == '\'' && starts_with(p, end, "\xe2\x80\x99")) return 3;
    return p < end && *p == thousands ? 1 : 0;
  }

  /// Rewrites the number as a program would. Returns 0 if its digits are not grouped correctly: in threes or, as in India, in
  /// twos before the last three.
  std::size_t plain(const char* p, const char* end, char* text) const {
    std::size_t n = 0, group = 0, n_groups = 0, last = 0;
    bool whole = true;  // before the decimal mark
    while (p < end) {
      if (n == longest_number) return 0;
      if (const std::size_t size = whole ? separator_at(p, end) : 0) {
        if (group == 0 || group > 3 || (n_groups > 0 && group < 2)) return 0;
        ++n_groups, group = 0;
        p += size;
        continue;
      }
      if (whole && (*p == decimal || *p == 'e' || *p == 'E')) whole = false, last = group;
      group += is_digit(*p);
      text[n++] = *p == decimal ? '.' : *p;
      if (*p != decimal && *p == '.') return 0;
      ++p;
    }
    if (whole) last = group;
    return n_groups > 0 && last != 3 ? 0 : n;
  }
};

}  // namespace thresher
