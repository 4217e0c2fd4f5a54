// Error messages for lines of svmlight text.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>

#include "number.hpp"
#include "parse.hpp"

namespace thresher {

enum class Wrong { target, infinite_target, pair, qid, value, infinite_value, zero, beyond, crowded, overflow, repeated, wide };

inline bool ends_token(char c) { return is_blank(c) || c == '#'; }

/// Whether the bytes at p are inf or nan, in any case and with any sign, as other programs write them.
inline bool says_infinite(const char* p, const char* end) {
  if (p < end && (*p == '+' || *p == '-')) ++p;
  if (end - p < 3) return false;
  const char word[] = {static_cast<char>(p[0] | 0x20), static_cast<char>(p[1] | 0x20), static_cast<char>(p[2] | 0x20)};
  return std::equal(word, word + 3, "inf") || std::equal(word, word + 3, "nan");
}

/// The second occurrence of an index in a line that is otherwise well formed.
inline const char* second_use(const Line& line, std::uint64_t index) {
  bool used = false;
  for (const char* p = line.begin; p < line.end;) {
    const char* const token = skip_blanks(p, line.end);
    p = std::find_if(token, line.end, ends_token);
    if (p == token) break;
    const char* const colon = std::find(token, p, ':');
    if (colon == p || !is_digit(*token) || whole_number(token, colon) != index) continue;
    if (used) return token;
    used = true;
  }
  return line.begin;
}

/// ", column 9: expected "index:value", got "abc"." Position and text are those of the token that starts at `at`.
inline std::string explain(Wrong wrong, const char* at, const Line& line, std::int64_t most) {
  const char* const stop = std::find_if(at, std::max(at, line.end), ends_token);
  const std::string place = ", column " + std::to_string(at - line.begin + 1) + ": ";
  const std::string got = ", got " + quoted(at, stop) + ".";
  const std::string index = "index " + quoted(at, std::find(at, stop, ':'));
  switch (wrong) {
    case Wrong::target: return place + "expected a target" + got;
    case Wrong::infinite_target: return place + "a target must be a finite number" + got;
    case Wrong::pair: return place + "expected \"index:value\"" + got;
    case Wrong::qid: return place + "expected qid: and a whole number" + got;
    case Wrong::value: return place + "expected a number" + (stop > at ? got : " after the colon, got nothing.");
    case Wrong::infinite_value: return place + "a value must be a finite number" + got;
    case Wrong::zero: return place + "index 0 where indices start at 1; pass zero_based=True if they start at 0.";
    case Wrong::beyond: return place + index + " is beyond n_features=" + std::to_string(most) + ".";
    case Wrong::crowded:
      return place + index + " is beyond max_features=" + std::to_string(most) + "; raise it if there are so many.";
    case Wrong::repeated: return place + index + " appears twice in this row.";
    case Wrong::overflow:
    case Wrong::wide: break;
  }
  return place + index + " does not fit 64 bits.";
}

}  // namespace thresher
