// Points in time -> month, weekday and hour.
#pragma once

#include <cmath>
#include <cstdint>

namespace thresher {

/// Each is counted from 1, and the week starts on Monday. All are 0 if the point in time is missing or beyond any calendar.
struct DateParts {
  std::int64_t month = 0, weekday = 0, hour = 0;

  DateParts() = default;

  /// From days since 1970-01-01, rounded to the second.
  explicit DateParts(double days) {
    const double seconds = std::nearbyint(days * 86400.0), whole = std::floor(seconds / 86400.0);
    if (!(std::abs(whole) < 1e17)) return;  // also for NaN
    const auto day = static_cast<std::int64_t>(whole);
    month = month_of(day);
    weekday = modulo(day + 3, 7) + 1;  // 1970 began on a Thursday
    hour = static_cast<std::int64_t>(std::floor((seconds - 86400.0 * whole) / 3600.0)) + 1;
  }

 private:
  static std::int64_t modulo(std::int64_t a, std::int64_t b) { return (a % b + b) % b; }

  /// Years start in March, so that the leap day comes last; months then start where (5 d + 2) / 153 takes a new value.
  static std::int64_t month_of(std::int64_t day) {
    const std::int64_t in_era = modulo(day + 719468, 146097);  // since 1 March of a year divisible by 400
    const std::int64_t year = (in_era - in_era / 1460 + in_era / 36524 - in_era / 146096) / 365;
    const std::int64_t in_year = in_era - (365 * year + year / 4 - year / 100);
    return ((5 * in_year + 2) / 153 + 2) % 12 + 1;
  }
};

}  // namespace thresher
