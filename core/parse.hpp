// A chunk of text -> lines. Common to svmlight and CSV: line numbers, line ends, unfinished lines, and the handling of bad lines.
//
// A format has `read(Line&) -> Outcome`, which adds a row to its own arrays only if the whole line is good, so that bad lines can
// be skipped, and `explain(Line)`, which describes what is wrong with the line just rejected. Formats whose rows may continue
// below a line break move the end of the line with `extend`.
#pragma once

#include <cstdint>
#include <cstring>
#include <stdexcept>
#include <string>

#include "watch.hpp"

namespace thresher {

struct Chunk {
  const char* text;
  std::size_t size;
  bool final;               // the last line ends with the chunk
  bool skip_malformed;      // count bad lines instead of rejecting the text
  std::int64_t first_line;  // number of the first line, for messages
  std::int64_t max_rows;    // stop after this many rows; negative for all
};

struct Progress { std::int64_t consumed = 0, lines = 0, skipped = 0, rows = 0; };

/// [begin, end) without its line end; the next line starts at `next`. `limit` is the end of the chunk. Scanners may read up to
/// there; they stop at a line end because it is not a digit.
struct Line {
  const char *begin, *end, *next, *limit;
  bool final;
  std::int64_t breaks = 0;  // line ends within

  /// Moves the end to the first line break at or behind `from`. False if the chunk has none.
  bool end_behind(const char* from) {
    const char* const newline = static_cast<const char*>(std::memchr(from, '\n', static_cast<std::size_t>(limit - from)));
    if (!newline && !final) return false;
    end = newline ? newline : limit;
    next = newline ? newline + 1 : limit;
    if (end > from && end[-1] == '\r') --end;
    return true;
  }

  /// The same for a line that continues at `from`, behind its current end.
  bool extend(const char* from) {
    for (const char* p = end; (p = static_cast<const char*>(std::memchr(p, '\n', static_cast<std::size_t>(from - p)))); ++p)
      ++breaks;
    return end_behind(from);
  }

  /// Moves the end back to the first line break.
  void cut() {
    breaks = 0;
    end_behind(begin);
  }
};

enum class Outcome { row, nothing, malformed, unfinished };

template <class Format> Progress read_lines(const Chunk& chunk, Format& format) {
  Progress done;
  const char* p = chunk.text;
  const char* const limit = chunk.text + chunk.size;
  Watch watch;
  while (p < limit && done.rows != chunk.max_rows) {
    watch.tick();
    Line line{p, p, p, limit, chunk.final};
    if (!line.end_behind(p)) break;
    const Outcome outcome = format.read(line);
    if (outcome == Outcome::unfinished) break;
    if (outcome == Outcome::row) ++done.rows;
    if (outcome == Outcome::malformed) {
      if (!chunk.skip_malformed)
        throw std::invalid_argument("line " + std::to_string(chunk.first_line + done.lines) + format.explain(line));
      ++done.skipped;
    }
    done.lines += 1 + line.breaks;
    p = line.next;
  }
  done.consumed = p - chunk.text;
  return done;
}

inline bool is_blank(char c) { return c == ' ' || c == '\t'; }

inline const char* skip_blanks(const char* p, const char* end) {
  while (p < end && is_blank(*p)) ++p;
  return p;
}

/// The text in quotes for a message: plain ASCII, at most 40 characters.
inline std::string quoted(const char* begin, const char* end) {
  static constexpr char hex[] = "0123456789abcdef";
  std::string shown = "\"";
  const char* p = begin;
  for (; p < end && p - begin < 40; ++p) {
    const auto c = static_cast<unsigned char>(*p);
    if (c >= 0x20 && c < 0x7f) shown += *p;
    else shown += {'\\', 'x', hex[c >> 4], hex[c & 15]};
  }
  return shown + (p < end ? "...\"" : "\"");
}

}  // namespace thresher
