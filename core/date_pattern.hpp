// Dates and times as people write them -> days since 1970-01-01, or hours of a day.
#pragma once

#include <cmath>
#include <cstdint>
#include <cstring>

#include "number.hpp"

namespace thresher {

/// A pattern of letters, one for each part of a date. Any other character stands for itself, a blank for one or more blanks.
///
///     Y  year, four digits     y  year, two digits (69 ... 99: the 20th century)     M  month, one or two digits
///     b  month by name         D  day, one or two digits                             a  weekday by name
///     h  hour  m  minute       s  second, with or without a fraction                 p  AM or PM
///     z  Z, +hh:mm or +hhmm    N  month, N and d two digits exactly: YNd             T  itself
///
/// Days are whole microseconds divided once, so the same time in another format gives the same bits. Without a day, a pattern
/// gives the first of the month; without a date, it gives hours since midnight.
struct DatePattern {
  const char *begin, *end;

  bool read(const char* p, const char* stop, double& x) const {
    std::int64_t year = 0, month = 1, day = 1, hour = 0, minute = 0, offset = 0;
    double second = 0;
    bool has_date = false, afternoon = false, half = false;
    for (const char* letter = begin; letter < end; ++letter) {
      switch (*letter) {
        case 'Y': p = digits(p, stop, 4, 4, year), has_date = true; break;
        case 'y':
          p = digits(p, stop, 2, 2, year), has_date = true;
          year += year < 69 ? 2000 : 1900;
          break;
        case 'M': p = digits(p, stop, 1, 2, month); break;
        case 'N': p = digits(p, stop, 2, 2, month); break;
        case 'b': p = month_name(p, stop, month); break;
        case 'D': p = digits(p, stop, 1, 2, day); break;
        case 'd': p = digits(p, stop, 2, 2, day); break;
        case 'a': p = letters(p, stop); break;
        case 'h': p = digits(p, stop, 1, 2, hour); break;
        case 'm': p = digits(p, stop, 2, 2, minute); break;
        case 's': p = seconds(p, stop, second); break;
        case 'p': p = half_of_day(p, stop, afternoon), half = true; break;
        case 'z': p = zone(p, stop, offset); break;
        default: p = literal(*letter, p, stop);
      }
      if (!p) return false;
    }
    if (half && (hour < 1 || hour > 12)) return false;
    if (half) hour = hour % 12 + (afternoon ? 12 : 0);
    const bool midnight = hour == 24 && minute == 0 && second == 0;
    if (p != stop || month < 1 || month > 12 || day < 1 || day > days_in(year, month)) return false;
    if ((hour > 23 && !midnight) || minute > 59 || second >= 61) return false;
    const std::int64_t minutes = 60 * hour + minute - offset;
    const auto time = static_cast<double>(60000000 * minutes + std::llround(second * 1e6));  // in microseconds
    x = has_date ? (static_cast<double>(days_since_1970(year, month, day)) * 864e8 + time) / 864e8 : time / 36e8;
    return true;
  }

 private:
  static const char* digits(const char* p, const char* stop, int least, int most, std::int64_t& value) {
    value = 0;
    int n = 0;
    for (; p < stop && n < most && is_digit(*p); ++p, ++n) value = value * 10 + (*p - '0');
    return n >= least ? p : nullptr;
  }

  static bool is_letter(char c) { return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c & 0x80) != 0; }

  static const char* letters(const char* p, const char* stop) {
    const char* const first = p;
    while (p < stop && is_letter(*p)) ++p;
    if (p < stop && p > first && *p == '.') ++p;
    return p > first ? p : nullptr;
  }

  static const char* seconds(const char* p, const char* stop, double& second) {
    std::int64_t whole = 0;
    p = digits(p, stop, 2, 2, whole);
    second = static_cast<double>(whole);
    if (!p || p + 1 >= stop || (*p != '.' && *p != ',') || !is_digit(p[1])) return p;
    double unit = 1;
    for (++p; p < stop && is_digit(*p); ++p) second += (unit /= 10) * (*p - '0');
    return p;
  }

  static const char* half_of_day(const char* p, const char* stop, bool& afternoon) {
    if (stop - p < 2 || (p[1] | 0x20) != 'm') return nullptr;
    const char first = static_cast<char>(p[0] | 0x20);
    afternoon = first == 'p';
    return first == 'a' || first == 'p' ? p + 2 : nullptr;
  }

  static const char* zone(const char* p, const char* stop, std::int64_t& offset) {
    if (p < stop && (*p == 'Z' || *p == 'z')) return p + 1;
    if (p >= stop || (*p != '+' && *p != '-')) return nullptr;
    const bool west = *p++ == '-';
    std::int64_t hours = 0, minutes = 0;
    p = digits(p, stop, 2, 2, hours);
    if (p && p < stop && *p == ':') ++p;
    if (p && p < stop) p = digits(p, stop, 2, 2, minutes);
    if (!p || hours > 18 || minutes > 59) return nullptr;
    offset = (west ? -1 : 1) * (60 * hours + minutes);
    return p;
  }

  static const char* literal(char c, const char* p, const char* stop) {
    if (p >= stop || *p != c) return nullptr;
    ++p;
    while (c == ' ' && p < stop && *p == ' ') ++p;
    return p;
  }

  /// The first letters of the months in English, German, French, Spanish, Italian, Portuguese and Dutch, in lower case and
  /// without accents. If two have the same beginning, the longer comes first.
  static const char* month_name(const char* p, const char* stop, std::int64_t& month) {
    static constexpr struct {
      const char* name;
      int month;
    } names[] = {{"jan", 1},        {"ene", 1},  {"gen", 1},  {"feb", 2},           {"fev", 2},  {"f\xc3\xa9v", 2}, {"mar", 3},
                 {"m\xc3\xa4r", 3}, {"mrz", 3},  {"maa", 3},  {"mrt", 3},           {"apr", 4},  {"avr", 4},        {"abr", 4},
                 {"mai", 5},        {"may", 5},  {"mag", 5},  {"mei", 5},           {"jun", 6},  {"juin", 6},       {"giu", 6},
                 {"jul", 7},        {"juil", 7}, {"lug", 7},  {"aug", 8},           {"aou", 8},  {"ao\xc3\xbb", 8}, {"ago", 8},
                 {"sep", 9},        {"set", 9},  {"oct", 10}, {"okt", 10},          {"ott", 10}, {"out", 10},       {"nov", 11},
                 {"dec", 12},       {"dez", 12}, {"dic", 12}, {"d\xc3\xa9\x63", 12}};
    const char* const behind = letters(p, stop);
    if (!behind) return nullptr;
    for (const auto& [name, number] : names) {
      const std::size_t size = std::strlen(name);
      if (static_cast<std::size_t>(behind - p) < size) continue;
      bool same = true;
      for (std::size_t i = 0; i < size; ++i) {
        const char c = p[i] >= 'A' && p[i] <= 'Z' ? static_cast<char>(p[i] | 0x20) : p[i];
        same &= c == name[i];
      }
      if (same) return month = number, behind;
    }
    return nullptr;
  }

  static std::int64_t days_in(std::int64_t year, std::int64_t month) {
    if (month == 2) return (year % 4 == 0 && year % 100 != 0) || year % 400 == 0 ? 29 : 28;
    return month == 4 || month == 6 || month == 9 || month == 11 ? 30 : 31;
  }

  /// The proleptic Gregorian calendar, with years that begin in March so that the leap day comes last.
  static std::int64_t days_since_1970(std::int64_t year, std::int64_t month, std::int64_t day) {
    const std::int64_t y = month > 2 ? year : year - 1, from_march = (month + 9) % 12;
    return 365 * y + y / 4 - y / 100 + y / 400 + (153 * from_march + 2) / 5 + day - 1 - 719468;
  }
};

}  // namespace thresher
