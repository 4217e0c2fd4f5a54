// One line of Vowpal Wabbit text -> its label and its features:  label importance initial 'tag|space:weight name:value ...
//
// Everything except the bar may be missing. The column of a feature is the hash of its name, seeded with the hash of its
// namespace. A whole number is used as a column directly; in a named namespace, it is an offset from a column given by the hash
// of the namespace. Columns beyond the last wrap around to 0. Values without a name are numbered from 0 within their namespace.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>

#include "number.hpp"
#include "parse.hpp"
#include "vw_name.hpp"

namespace thresher {

struct VwLabel {
  double target = std::numeric_limits<double>::quiet_NaN();  // NaN if there is none
  double weight = 1;
};

struct VwSpace {
  Span name;
  std::uint64_t seed;
  std::uint64_t first;  // the column of its feature 0
};

struct VwFeature {
  Span name;
  std::uint64_t number;  // of a feature without a name
  std::uint64_t column;
  double value;
};

class VwLine {
 public:
  explicit VwLine(std::uint64_t n_features) : n_features_(n_features) {}

  /// Calls each(namespace, feature) for all features. False if the line is malformed, which may only be found after some of the
  /// calls.
  template <class Each> bool read(const Line& line, VwLabel& label, const Each& each) {
    const auto size = static_cast<std::size_t>(line.end - line.begin);
    const char* p = static_cast<const char*>(std::memchr(line.begin, '|', size));
    if (!p) return refuse(Wrong::bar, line.begin);
    if (!read_label(line.begin, p, label)) return false;
    while (p < line.end) {  // at a bar
      const Span name{p + 1, std::find_if(p + 1, line.end, ends_name)};
      p = name.end;
      double scale = 1;
      if (p < line.end && *p == ':') p = read_number(p + 1, line, scale);
      if (!p) return false;
      const VwSpace space = space_of(name);
      VwFeature feature{};
      for (;;) {
        p = skip_blanks(p, line.end);
        if (p >= line.end || *p == '|') break;
        feature.name.begin = p;
        p = feature.name.end = scan_feature(feature, space, line);
        feature.value = scale;
        if (p < line.end && *p == ':') {
          const char* const value = p + 1;
          double x;
          p = read_number(value, line, x);
          if (!p) return false;
          feature.value = x * scale;
          if (!std::isfinite(feature.value)) return refuse(Wrong::infinite, value);
        }
        each(space, feature);
        feature.number += feature.name.size() == 0;
      }
    }
    return true;
  }

  /// Records an error in a line whose features were all read: a value, or a sum of values, that is out of range.
  void refuse_sum(const Line& line) { refuse(Wrong::sum, line.begin); }

  std::string explain(const Line& line) const {
    const char* const stop = std::find_if(at_, std::max(at_, line.end), [](char c) { return is_blank(c) || c == '|'; });
    const std::string place = ", column " + std::to_string(at_ - line.begin + 1) + ": ";
    const std::string got = stop > at_ ? ", got " + quoted(at_, stop) + "." : ", got nothing.";
    switch (wrong_) {
      case Wrong::bar: return place + "expected a | before the features.";
      case Wrong::label: return place + "expected a number as label" + got;
      case Wrong::parts: return place + "a label must be one number, neither a list nor an action with its cost" + got;
      case Wrong::weight: return place + "an importance weight must be a number of at least 0" + got;
      case Wrong::initial: return place + "an initial prediction other than 0 is not supported" + got;
      case Wrong::head: return place + "expected | after label, importance, initial prediction and tag" + got;
      case Wrong::number: return place + "expected a number after the colon" + got;
      case Wrong::infinite: return place + "a value must be a finite number" + got;
      case Wrong::sum: break;
    }
    return place + "a feature of this row has a value, or a sum of values, that is too large.";
  }

 private:
  enum class Wrong { bar, label, parts, weight, initial, head, number, infinite, sum };

  bool refuse(Wrong wrong, const char* at) {
    wrong_ = wrong;
    at_ = at;
    return false;
  }

  /// Reads the part before the first bar. The last word is a tag if it touches the bar or starts with an apostrophe.
  bool read_label(const char* p, const char* bar, VwLabel& label) {
    static constexpr Wrong wrongs[] = {Wrong::label, Wrong::weight, Wrong::initial};
    for (int n_words = 0;; ++n_words) {
      p = skip_blanks(p, bar);
      if (p == bar) return true;
      const char* const word = p;
      p = std::find_if(word, bar, is_blank);
      if (p == bar || *word == '\'') return skip_blanks(p, bar) == bar || refuse(Wrong::head, skip_blanks(p, bar));
      if (n_words == 3) return refuse(Wrong::head, word);
      double x = 0;
      const bool good = scan_number(word, bar, x) == p && std::isfinite(x);
      if (!good && n_words == 0 && std::find_if(word, p, [](char c) { return c == ':' || c == ','; }) != p)
        return refuse(Wrong::parts, word);
      if (!good || (n_words == 1 && x < 0) || (n_words == 2 && x != 0)) return refuse(wrongs[n_words], word);
      if (n_words == 0) label.target = x;
      if (n_words == 1) label.weight = x;
    }
  }

  const char* read_number(const char* p, const Line& line, double& x) {
    const char* const next = scan_number(p, line.limit, x);
    if (!next || next > line.end || (next < line.end && !is_blank(*next) && *next != '|'))
      return refuse(Wrong::number, p), nullptr;
    if (!std::isfinite(x)) return refuse(Wrong::infinite, p), nullptr;
    return next;
  }

  VwSpace space_of(Span name) const {
    if (name.size() == 0) return {name, 0, 0};
    const std::uint64_t seed = hash_bytes(name.begin, name.size());
    return {name, seed, bucket_of(seed, n_features_)};
  }

  /// Finds the column of the feature whose name starts at its begin, and returns the end of the name.
  const char* scan_feature(VwFeature& feature, const VwSpace& space, const Line& line) const {
    const char* const begin = feature.name.begin;
    std::uint64_t number = 0;
    const char* end = scan_digits(begin, line.limit, number);
    const bool ends_here = end >= line.end || ends_name(*end);
    if (!ends_here || end - begin > 18) {
      end = scan_name(begin, line, space.seed, number);
      feature.column = bucket_of(number, n_features_);
      return end;
    }
    const std::uint64_t column = space.first + (end == begin ? feature.number : number);
    feature.column = column < n_features_ ? column : column % n_features_;
    return end;
  }

  std::uint64_t n_features_;
  Wrong wrong_ = Wrong::bar;
  const char* at_ = nullptr;
};

}  // namespace thresher
