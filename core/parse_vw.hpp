// Vowpal Wabbit text -> rows of hashed features, or the names of the features behind some columns.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "buckets.hpp"
#include "growing.hpp"
#include "sort_pairs.hpp"
#include "vw_line.hpp"

namespace thresher {

inline bool is_blank_line(const Line& line) { return skip_blanks(line.begin, line.end) == line.end; }

/// Columns strictly increase within a row. Values with the same column are added in the order of the line.
template <class Value> class VwRows {
 public:
  Growing<double> targets;  // NaN if a line has no label
  Growing<double> weights;
  Growing<Value> values;
  Growing<std::int32_t> columns;
  Growing<std::int64_t> starts;

  explicit VwRows(std::int64_t n_features) : line_(static_cast<std::uint64_t>(n_features)) {
    starts.push(0);
    while (std::int64_t{1} << bits_ < n_features) ++bits_;
  }

  Outcome read(const Line& line) {
    if (is_blank_line(line)) return Outcome::nothing;
    const auto most = static_cast<std::size_t>(line.end - line.begin) / 2 + 1;  // "a " is the shortest feature
    if (row_.size() < most) row_.resize(most);
    VwLabel label;
    std::size_t n = 0;
    bool sorted = true;
    const bool good = line_.read(line, label, [&](const VwSpace&, const VwFeature& feature) {
      const auto column = static_cast<std::uint32_t>(feature.column);
      sorted &= n == 0 || row_[n - 1].column < column;
      row_[n++] = {column, feature.value};
    });
    if (!good) return Outcome::malformed;
    if (!sorted) sort_pairs(row_, n, bits_, spare_);
    if (!add_row(line, n)) return Outcome::malformed;
    targets.push(label.target);
    weights.push(label.weight);
    starts.push(static_cast<std::int64_t>(values.size()));
    return Outcome::row;
  }
  std::string explain(const Line& line) const { return line_.explain(line); }

 private:
  bool add_row(const Line& line, std::size_t n) {
    Value* const row_values = values.room(n);
    std::int32_t* const row_columns = columns.room(n);
    std::size_t n_columns = 0;
    for (std::size_t i = 0; i < n;) {
      const std::uint32_t column = row_[i].column;
      double x = row_[i].value;
      for (++i; i < n && row_[i].column == column; ++i) x += row_[i].value;
      row_values[n_columns] = static_cast<Value>(x);
      if (!std::isfinite(row_values[n_columns])) return line_.refuse_sum(line), false;
      row_columns[n_columns++] = static_cast<std::int32_t>(column);
    }
    values.commit(n_columns);
    columns.commit(n_columns);
    return true;
  }

  VwLine line_;
  int bits_ = 0;                          // per column
  std::vector<ColumnValue> row_, spare_;  // the current row, and scratch memory for sorting it
};

/// The features behind the `n` columns at `wanted`, in increasing order: `space^name`, at most two for each.
class VwNames {
 public:
  VwNames(std::int64_t n_features, const std::int32_t* wanted, std::size_t n, std::uint32_t* seen)
      : buckets(n, seen), line_(static_cast<std::uint64_t>(n_features)), wanted_(wanted), n_(n) {}
  Buckets buckets;

  Outcome read(const Line& line) {
    if (is_blank_line(line)) return Outcome::nothing;
    VwLabel ignored;
    const bool good = line_.read(line, ignored, [&](const VwSpace& space, const VwFeature& feature) {
      const auto* const place = std::lower_bound(wanted_, wanted_ + n_, static_cast<std::int32_t>(feature.column));
      if (place == wanted_ + n_ || static_cast<std::uint64_t>(*place) != feature.column) return;
      name_.assign(space.name.begin, space.name.end);
      if (!name_.empty()) name_ += '^';
      if (feature.name.size() > 0) name_.append(feature.name.begin, feature.name.end);
      else name_ += std::to_string(feature.number);
      buckets.note(static_cast<std::uint32_t>(place - wanted_), hash_bytes(name_.data(), name_.size()), name_.data(),
                   name_.size());
    });
    return good ? Outcome::row : Outcome::malformed;
  }
  std::string explain(const Line& line) const { return line_.explain(line); }

 private:
  VwLine line_;
  const std::int32_t* wanted_;
  std::size_t n_;
  std::string name_;
};

}  // namespace thresher
