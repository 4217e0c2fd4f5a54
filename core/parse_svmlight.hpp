// svmlight text -> rows:  target index:value index:value ... # comment
//
// Columns are counted from 0 and strictly increase within a row. Blank lines, comments and qid:N are skipped.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>
#include <vector>

#include "growing.hpp"
#include "number.hpp"
#include "parse.hpp"
#include "refusal.hpp"

namespace thresher {

template <class Value> class SvmlightRows {
 public:
  Growing<double> targets;
  Growing<Value> values;
  Growing<std::int32_t> columns;       // used until a column needs more than 32 bits;
  Growing<std::int64_t> wide_columns;  // then this
  Growing<std::int64_t> starts;
  std::int64_t width = 0;  // largest column + 1

  /// If n_features < 0, any column below max_features is accepted, or any at all if that is negative, too. If n_features needs 64
  /// bits, columns have 64 bits from the start, so that all chunks of a file have the same type.
  SvmlightRows(std::int64_t n_features, bool zero_based, std::int64_t max_features)
      : n_features_(n_features), most_(n_features >= 0 ? n_features : max_features), base_(!zero_based),
        wide_(n_features > std::numeric_limits<std::int32_t>::max()) {
    starts.push(0);
  }
  bool wide() const { return wide_; }

  /// Reserves room for a large text. The number of pairs is estimated from its beginning; a wrong estimate only costs time.
  void expect(const char* text, std::size_t size) {
    constexpr std::size_t sample = 1 << 16;
    if (size < 256 * sample) return;
    const auto pairs = static_cast<double>(std::count(text, text + sample, ':'));
    const auto n = static_cast<std::size_t>(1.05 * pairs / sample * static_cast<double>(size));
    values.expect(n);
    wide_ ? wide_columns.expect(n) : columns.expect(n);
  }

  Outcome read(const Line& line) {
    if (!wide_) {
      const Outcome outcome = read_as(line, columns);
      if (outcome != Outcome::malformed || wrong_ != Wrong::wide) return outcome;
      widen();
    }
    return read_as(line, wide_columns);
  }
  std::string explain(const Line& line) const { return thresher::explain(wrong_, at_, line, most_); }

 private:
  static bool at_token_end(const char* p, const Line& line) { return p >= line.end || ends_token(*p); }

  Outcome refuse(Wrong wrong, const char* at) {
    wrong_ = wrong;
    at_ = at;
    return Outcome::malformed;
  }

  template <class Index> Outcome read_as(const Line& line, Growing<Index>& kept) {
    const char* p = skip_blanks(line.begin, line.end);
    if (at_token_end(p, line)) return Outcome::nothing;
    double target;
    const char* next = scan_number(p, line.limit, target);
    if (!next || !at_token_end(next, line)) return refuse(says_infinite(p, line.end) ? Wrong::infinite_target : Wrong::target, p);
    if (!std::isfinite(target)) return refuse(Wrong::infinite_target, p);
    p = next;

    const auto most = static_cast<std::size_t>(line.end - line.begin) / 4 + 2;  // "1:2 " is the shortest pair
    Value* const row_values = values.room(most);
    Index* const row_columns = kept.room(most);
    constexpr std::uint64_t any = std::numeric_limits<Index>::max();
    const std::uint64_t bound = n_features_ >= 0 ? most_ : most_ >= 0 ? std::min<std::uint64_t>(most_, any) : any;
    std::size_t n = 0;
    std::int64_t last = -1;
    bool sorted = true;
    for (;;) {
      p = skip_blanks(p, line.end);
      if (at_token_end(p, line)) break;
      const char* const token = p;
      std::uint64_t index = 0;
      p = scan_digits(p, line.limit, index);
      if (p == token || p >= line.end || *p != ':') {
        p = skip_qid(token, line);
        if (!p) return Outcome::malformed;
        continue;
      }
      if (p - token > 18) index = whole_number(token, p);
      const std::uint64_t column = index - base_;  // index 0 of 1-based text wraps to a huge number
      if (column >= bound) return refuse(why_not(index), token);
      double x;
      next = scan_number(++p, line.limit, x);
      if (!next || !at_token_end(next, line)) return refuse(says_infinite(p, line.end) ? Wrong::infinite_value : Wrong::value, p);
      const auto value = static_cast<Value>(x);
      if (!std::isfinite(value)) return refuse(Wrong::infinite_value, p);
      p = next;
      sorted &= static_cast<std::int64_t>(column) > last;
      last = static_cast<std::int64_t>(column);
      row_values[n] = value;
      row_columns[n++] = static_cast<Index>(column);
    }
    if (!sorted && !sort_row(line, row_values, row_columns, n)) return Outcome::malformed;
    if (n > 0) width = std::max(width, static_cast<std::int64_t>(row_columns[n - 1]) + 1);
    values.commit(n);
    kept.commit(n);
    targets.push(target);
    starts.push(static_cast<std::int64_t>(values.size()));
    return Outcome::row;
  }

  /// The position behind qid:N, or null on an error.
  const char* skip_qid(const char* token, const Line& line) {
    if (line.end - token < 4 || std::memcmp(token, "qid:", 4) != 0) return refuse(Wrong::pair, token), nullptr;
    std::uint64_t ignored = 0;
    const char* const stop = scan_digits(token + 4, line.limit, ignored);
    if (stop == token + 4 || !at_token_end(stop, line)) return refuse(Wrong::qid, token), nullptr;
    return stop;
  }

  Wrong why_not(std::uint64_t index) const {
    if (index < base_) return Wrong::zero;
    if (n_features_ >= 0) return Wrong::beyond;
    if (most_ >= 0 && index - base_ >= static_cast<std::uint64_t>(most_)) return Wrong::crowded;
    return !wide_ && index - base_ < std::numeric_limits<std::int64_t>::max() ? Wrong::wide : Wrong::overflow;
  }

  /// False if a column appears twice.
  template <class Index> bool sort_row(const Line& line, Value* row_values, Index* row_columns, std::size_t n) {
    pairs_.resize(n);
    for (std::size_t i = 0; i < n; ++i) pairs_[i] = {row_columns[i], row_values[i]};
    std::sort(pairs_.begin(), pairs_.end(), [](const auto& a, const auto& b) { return a.first < b.first; });
    for (std::size_t i = 0; i < n; ++i) {
      if (i > 0 && pairs_[i].first == pairs_[i - 1].first) {
        refuse(Wrong::repeated, second_use(line, static_cast<std::uint64_t>(pairs_[i].first) + base_));
        return false;
      }
      row_columns[i] = static_cast<Index>(pairs_[i].first);
      row_values[i] = pairs_[i].second;
    }
    return true;
  }

  void widen() {
    std::int64_t* const wide = wide_columns.room(columns.size());
    std::copy(columns.data(), columns.data() + columns.size(), wide);
    wide_columns.commit(columns.size());
    columns = Growing<std::int32_t>();
    wide_ = true;
  }

  std::int64_t n_features_, most_;
  std::uint64_t base_;
  bool wide_;
  Wrong wrong_ = Wrong::target;
  const char* at_ = nullptr;
  std::vector<std::pair<std::int64_t, Value>> pairs_;  // scratch memory for sorting a row
};

}  // namespace thresher
