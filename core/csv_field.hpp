// One field of CSV text: where it ends and what it contains. Blanks around a field are padding, unless they are the delimiter.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>

#include "number.hpp"
#include "parse.hpp"
#include "utf8.hpp"

namespace thresher {

/// The text of a field in its line, without padding and outer quotes.
struct CsvField {
  const char *begin, *end;
  bool quotes = false;  // quotes within it are doubled
};

/// A quote that is not closed within this many bytes is an ordinary character, so that a stray one does not consume the rest of a
/// large file.
constexpr std::ptrdiff_t longest_field = std::ptrdiff_t{1} << 24;

/// The quote that closes the field whose text begins at p, or null.
inline const char* closing_quote(const char* p, const char* limit) {
  const char* const last = limit - p > longest_field ? p + longest_field : limit;
  while (p < last) {
    p = static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(last - p)));
    if (!p || p + 1 >= limit || p[1] != '"') return p;
    p += 2;
  }
  return nullptr;
}

/// Whether [begin, end) equals `word`, which is in lower case, ignoring case.
inline bool says(const char* begin, const char* end, const char* word) {
  const auto small = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c | 0x20) : c; };
  return static_cast<std::size_t>(end - begin) == std::strlen(word) &&
         std::equal(begin, end, word, [&](char a, char b) { return small(a) == b; });
}

/// Words that stand for a missing number. An empty field is missing, too.
inline bool says_missing(const char* begin, const char* end) {
  if (begin == end) return true;
  if (end - begin > 6) return false;
  for (const char* word : {"na", "n/a", "nan", "null", "none", "?", ".", "-", "--", "\\n", "#n/a", "<na>", "nil", "(null)"})
    if (says(begin, end, word)) return true;
  return false;
}

/// Words that other programs write for a number that is too large, with or without a sign.
inline bool says_infinity(const char* begin, const char* end) {
  if (begin < end && (*begin == '+' || *begin == '-')) ++begin;
  return says(begin, end, "inf") || says(begin, end, "infinity");
}

enum class CsvWrong { number, infinite, count, open, behind, encoding, unfinished };

/// Rare cases are not inlined, which keeps the loop over numeric fields fast.
class CsvFields {
 public:
  explicit CsvFields(char delimiter) : delimiter_(delimiter) {}

  bool end_at(const char* p, const Line& line) const { return p >= line.end || *p == delimiter_; }

  const char* skip_padding(const char* p, const char* end) const {
    while (p < end && is_blank(*p) && *p != delimiter_) ++p;
    return p;
  }

  const char* next_delimiter(const char* p, const char* end) const {
    const void* const found = p < end ? std::memchr(p, delimiter_, static_cast<std::size_t>(end - p)) : nullptr;
    return found ? static_cast<const char*>(found) : end;
  }

  /// The field at p if it is not quoted: up to the delimiter, without padding.
  CsvField bare(const char* p, const char* stop) const {
    p = skip_padding(p, stop);
    while (stop > p && is_blank(stop[-1])) --stop;
    return {p, stop};
  }

  /// A number at p in a form that the fast path does not handle: with padding, in quotes, or missing. Returns its end, or null if
  /// it is not a number.
  [[gnu::noinline]] const char* number(const char* p, const Line& line, double& x) const {
    const char* const stop = end_in_line(p, line);
    CsvField field = bare(p, stop);
    if (field.end - field.begin >= 2 && *field.begin == '"' && field.end[-1] == '"')
      field = bare(skip_blanks(field.begin + 1, field.end - 1), field.end - 1);
    return is_number(field, x) ? stop : nullptr;
  }

  /// NaN if it is missing.
  [[gnu::noinline]] static bool is_number(const CsvField& field, double& x) {
    if (field.begin < field.end && scan_number(field.begin, field.end, x) == field.end) return true;
    x = std::numeric_limits<double>::quiet_NaN();
    return says_missing(field.begin, field.end);
  }

  /// The end of the field at p, which may be quoted but holds no line break.
  const char* end_in_line(const char* p, const Line& line) const {
    const char* const text = skip_padding(p, line.end);
    if (text == line.end || *text != '"') return next_delimiter(text, line.end);
    const char* const close = closing_quote(text + 1, line.end);
    return close ? next_delimiter(close + 1, line.end) : line.end;
  }

  /// A text at p, which may be quoted and then hold delimiters and line breaks. Null if its end is not in the chunk yet or if
  /// there is an error; `wrong` says which.
  [[gnu::noinline]] const char* text(const char* p, Line& line, CsvField& field, CsvWrong& wrong) const {
    const char* const first = skip_padding(p, line.end);
    if (first == line.end || *first != '"') {
      const char* const stop = next_delimiter(first, line.end);
      field = bare(first, stop);
      return stop;
    }
    const char* const close = closing_quote(first + 1, line.limit);
    const bool more_to_come = !line.final && line.limit - first <= longest_field + 1;
    wrong = close || more_to_come ? CsvWrong::unfinished : CsvWrong::open;
    if (!close || (close > line.end && !line.extend(close))) return nullptr;
    field = {first + 1, close, true};
    const char* const next = skip_padding(close + 1, line.end);
    wrong = CsvWrong::behind;
    return end_at(next, line) ? next : nullptr;
  }

 private:
  char delimiter_;
};

/// Appends the text of a field to a column, with doubled quotes made single.
template <class Bytes> void append_text(const CsvField& field, Bytes& bytes) {
  std::uint8_t* const room = bytes.room(static_cast<std::size_t>(field.end - field.begin));
  std::uint8_t* out = room;
  const auto copy = [&](const char* begin, const char* end) {
    if (begin < end) std::memcpy(out, begin, static_cast<std::size_t>(end - begin));
    out += end - begin;
  };
  const char* p = field.begin;
  while (field.quotes && p < field.end) {
    const auto* const quote = static_cast<const char*>(std::memchr(p, '"', static_cast<std::size_t>(field.end - p)));
    if (!quote) break;
    copy(p, quote + 1);
    p = quote + 2;
  }
  copy(p, field.end);
  bytes.commit(static_cast<std::size_t>(out - room));
}

}  // namespace thresher
