// Text -> words -> counts in buckets.
//
// A word is a run of letters and digits, with apostrophes inside it, of at least two characters. ASCII letters are lower-cased.
// Every character beyond ASCII is a letter, except spaces and punctuation: U+0080 to U+00BF, U+2000 to U+206F and U+3000 to
// U+303F.
#pragma once

#include <algorithm>
#include <vector>

#include "buckets.hpp"
#include "text.hpp"

namespace thresher {

/// Lower-case for ASCII letters; digits and the apostrophe unchanged; 0 for all other bytes.
struct WordLetters {
  char of[128] = {};
  constexpr WordLetters() {
    for (int c = 'a'; c <= 'z'; ++c) of[c] = of[c - 'a' + 'A'] = static_cast<char>(c);
    for (int c = '0'; c <= '9'; ++c) of[c] = static_cast<char>(c);
    of[static_cast<int>('\'')] = '\'';
  }
};

/// The words of one text, separated by blanks, so that a pair of neighbours is also a contiguous piece.
class Words {
 public:
  struct Span { const char *begin, *end; };
  const std::vector<Span>& spans() const { return spans_; }

  void split(const char* p, const char* end) {
    const auto room = static_cast<std::size_t>(end - p) + 1;  // a word and its blank are no longer than their source
    if (joined_.size() < room) joined_.resize(room);
    spans_.clear();
    char* out = joined_.data();
    while (p < end) {
      char* const begin = out;
      char* const stop = copy_word(p, end, out);
      out = begin;
      if (stop != begin) {
        spans_.push_back({begin, stop});
        *stop = ' ';
        out = stop + 1;
      }
      if (p < end) p += std::max<std::size_t>(mark(p, end), 1);
    }
  }

 private:
  /// Copies the word at p, if any, and moves p past it. Returns the end of the copy, without outer apostrophes, or its start if
  /// the word is too short.
  static char* copy_word(const char*& p, const char* end, char* out) {
    static constexpr WordLetters small;
    char *const begin = out, *stop = out;
    std::size_t n_characters = 0;
    while (p < end) {
      const auto c = static_cast<unsigned char>(*p);
      if (c < 0x80) {
        const char letter = small.of[c];
        if (!letter || (letter == '\'' && stop == begin)) break;
        *out++ = letter;
        ++p;
        if (letter == '\'') continue;
      } else {
        if (mark(p, end)) break;
        do *out++ = *p++;
        while (p < end && (static_cast<unsigned char>(*p) & 0xc0) == 0x80);
      }
      ++n_characters;
      stop = out;
    }
    return n_characters >= 2 ? stop : begin;
  }

  /// The length of a space or punctuation mark beyond ASCII at p, or 0.
  static std::size_t mark(const char* p, const char* end) {
    const auto at = [&](std::ptrdiff_t i) { return i < end - p ? static_cast<unsigned char>(p[i]) : 0; };
    if (at(0) == 0xc2 && at(1) >= 0x80 && at(1) <= 0xbf) return 2;
    const bool general = at(0) == 0xe2 && (at(1) == 0x80 || (at(1) == 0x81 && at(2) <= 0xaf));
    const bool eastern = at(0) == 0xe3 && at(1) == 0x80;
    return (general || eastern) && at(2) >= 0x80 && at(2) <= 0xbf ? 3 : 0;
  }

  std::vector<char> joined_;
  std::vector<Span> spans_;
};

struct WordCounts {
  Growing<double> values;
  Growing<std::int32_t> columns;  // sorted and unique in each row
  Growing<std::int64_t> starts;
};

/// Counts the words of each text and, with `pairs`, every pair of neighbouring words.
inline void count_words(const Texts& texts, std::uint64_t seed, bool pairs, Buckets& buckets, WordCounts& out) {
  Words words;
  std::vector<std::int32_t> found;
  out.starts.push(0);
  for (std::int64_t i = 0; i < texts.n; ++i) {
    words.split(texts.begin(i), texts.end(i));
    found.clear();
    const auto& spans = words.spans();
    const auto add = [&](const char* begin, const char* end) {
      found.push_back(buckets.add(begin, static_cast<std::size_t>(end - begin), seed));
    };
    for (std::size_t k = 0; k < spans.size(); ++k) {
      add(spans[k].begin, spans[k].end);
      if (pairs && k + 1 < spans.size()) add(spans[k].begin, spans[k + 1].end);
    }
    std::sort(found.begin(), found.end());
    for (std::size_t k = 0; k < found.size();) {
      const std::size_t first = k;
      while (k < found.size() && found[k] == found[first]) ++k;
      out.columns.push(found[first]);
      out.values.push(static_cast<double>(k - first));
    }
    out.starts.push(static_cast<std::int64_t>(out.columns.size()));
  }
}

}  // namespace thresher
