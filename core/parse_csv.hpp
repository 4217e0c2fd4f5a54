// CSV text -> a dense table of numbers. One line is one row; an empty field is NaN. Fields may be quoted and padded.
#pragma once

#include <cmath>
#include <limits>

#include "growing.hpp"
#include "number.hpp"
#include "parse.hpp"

namespace thresher {

template <class Value> class CsvRows {
 public:
  Growing<double> targets;  // one column kept apart, and never rounded to float32
  Growing<Value> values;    // the others, row by row

  /// target < 0: no column is kept apart.
  CsvRows(std::int64_t n_columns, std::int64_t target, char delimiter)
      : n_columns_(n_columns), target_(target), delimiter_(delimiter) {}

  Outcome read(const Line& line) {
    const char* p = skip_padding(line.begin, line.end);
    if (p == line.end) return Outcome::nothing;
    p = line.begin;
    Value* out = values.room(static_cast<std::size_t>(n_columns_));
    double target = 0;
    for (field_ = 0;; ++field_) {
      if (field_ == n_columns_) return refuse(Wrong::count, p);
      double x;
      const char* next = scan_number(p, line.limit, x);
      if (!next || !ends_field(next, line)) {
        next = read_padded(p, line, x);
        if (!next) return refuse(Wrong::number, p);
      }
      if (field_ == target_) {
        target = x;
      } else {
        *out++ = static_cast<Value>(x);
      }
      if (std::isinf(field_ == target_ ? target : static_cast<double>(out[-1]))) return refuse(Wrong::infinite, p);
      p = next;
      if (p >= line.end) break;
      ++p;
    }
    if (field_ + 1 != n_columns_) return refuse(Wrong::count, p);
    values.commit(static_cast<std::size_t>(n_columns_ - (target_ >= 0)));
    if (target_ >= 0) targets.push(target);
    return Outcome::row;
  }

  std::string explain(const Line& line) const {
    if (wrong_ == Wrong::count) {
      std::int64_t n = 1;
      for (const char* p = field_end(line.begin, line); p < line.end; p = field_end(p + 1, line)) ++n;
      const std::string expected = std::to_string(n_columns_) + (n_columns_ == 1 ? " field" : " fields");
      return ": expected " + expected + ", got " + std::to_string(n) + ".";
    }
    const char* const end = field_end(at_, line);
    return ", field " + std::to_string(field_ + 1) + ": expected a " + (wrong_ == Wrong::infinite ? "finite " : "") +
           "number, got " + quoted(skip_padding(at_, end), end) + ".";
  }

 private:
  enum class Wrong { number, infinite, count };

  Outcome refuse(Wrong wrong, const char* at) {
    wrong_ = wrong;
    at_ = at;
    return Outcome::malformed;
  }

  bool ends_field(const char* p, const Line& line) const { return p >= line.end || *p == delimiter_; }

  /// A blank that separates fields is no padding.
  const char* skip_padding(const char* p, const char* end) const {
    while (p < end && is_blank(*p) && *p != delimiter_) ++p;
    return p;
  }

  /// What the short way does not know: blanks around the number, quotes, nothing at all. Null if it is none of these.
  const char* read_padded(const char* p, const Line& line, double& x) const {
    p = skip_padding(p, line.end);
    const bool quotes = p < line.end && *p == '"';
    if (quotes) p = skip_blanks(p + 1, line.end);
    const char* next = scan_number(p, line.limit, x);
    if (!next) {
      x = std::numeric_limits<double>::quiet_NaN();
      next = p;
    }
    if (quotes) {
      next = skip_blanks(next, line.end);
      if (next >= line.end || *next != '"') return nullptr;
      ++next;
    }
    next = skip_padding(next, line.end);
    return ends_field(next, line) ? next : nullptr;
  }

  /// The delimiter behind the field at p, or the end of the line. Delimiters within quotes belong to the field.
  const char* field_end(const char* p, const Line& line) const {
    const char* const text = skip_padding(p, line.end);
    bool open = false;
    for (p = text; p < line.end && (open || *p != delimiter_); ++p)
      if (*p == '"' && *text == '"') open = !open;
    return p;
  }

  std::int64_t n_columns_, target_;
  char delimiter_;
  Wrong wrong_ = Wrong::number;
  const char* at_ = nullptr;
  std::int64_t field_ = 0;
};

}  // namespace thresher
