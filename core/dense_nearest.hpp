// The nearest centre of dense rows. Rows in float32 are compared in float32 if the result is certain, otherwise in float64.
//
// With u = 2^-24, a cost in float32 differs from the exact one by at most
//
//     E = (d + 3) u (1 + tiny) (|offset| + |x| |w|)
//
// unless numbers underflow or overflow. If the two least costs of a row differ by more than 2 E, its centre is that of float64.
// The other rows are compared again.
#pragma once
#include <algorithm>
#include <cmath>
#include <memory>
#include <utility>
#include <vector>

#include "dense_costs.hpp"
#include "sparse_costs.hpp"
#include "wide.hpp"

namespace thresher {

constexpr index_t kFewRows = 4;          // groups of at most so many rows are compared row by row
constexpr index_t kMostRough = 4096;     // most columns for float32, so that E is small
constexpr index_t kMostUnsure = 8;       // float32 is given up if more than one row in so many is compared again
constexpr index_t kTileBytes = 1 << 18;  // of a tile, which stays in the cache

/// Centres in float32, if it can represent them.
class RoughCentres {
 public:
  RoughCentres(const Table<double>& fine, const double* middle) : n_features_(fine.n_features), n_padded_(fine.n_padded) {
    bool holds = n_features_ <= kMostRough;
    for (index_t j = 0; middle && j < n_features_; ++j)
      holds = holds && std::fabs(middle[j]) < kHuge && static_cast<double>(static_cast<float>(middle[j])) == middle[j];
    for (index_t c = 0; c < n_padded_; ++c) {
      if (fine.offsets[c] == std::numeric_limits<double>::infinity()) continue;
      double square = 0;
      for (index_t j = 0; j < n_features_; ++j) square += fine.weights[j * n_padded_ + c] * fine.weights[j * n_padded_ + c];
      longest_ = std::fmax(longest_, std::sqrt(square));
      largest_ = std::fmax(largest_, std::fabs(fine.offsets[c]));
    }
    if (!holds || !(longest_ < kHuge) || !(largest_ < kHuge)) return;
    for (index_t k = 0; k < n_features_ * n_padded_; ++k) weights_.push_back(static_cast<float>(fine.weights[k]));
    for (index_t c = 0; c < n_padded_; ++c) offsets_.push_back(static_cast<float>(fine.offsets[c]));
    longest_ += kTiny;
    largest_ += kTiny;
    error_ = 1.01 * static_cast<double>(n_features_ + 3) / (1 << 23);
  }
  bool hold() const { return !offsets_.empty(); }
  Table<float> table() const { return {weights_.data(), offsets_.data(), n_features_, n_padded_}; }

  /// 2 E for rows with squared lengths of at most `square`; infinite if numbers may overflow.
  float apart(float square) const {
    const double size = largest_ + std::sqrt(1.01 * static_cast<double>(square) + kTiny) * longest_;
    return size < kHuge ? static_cast<float>(error_ * size) : std::numeric_limits<float>::infinity();
  }

 private:
  static constexpr double kTiny = 1e-25, kHuge = 1e37;
  index_t n_features_, n_padded_;
  std::vector<float> weights_, offsets_;
  double error_ = 0, longest_ = 0, largest_ = 0;  // 2 E / size; the longest centre and the largest offset
};

template <class Value>
class Comparer<DenseRows<Value>> {
 public:
  static constexpr int most_bytes = 64;  // of registers

  /// With `exact`, costs are needed as well, so all rows are compared in float64.
  Comparer(const DenseRows<Value>& rows, const Centres& centres, bool exact)
      : rows_(rows), table_{centres.table, centres.offsets, rows.n_features, centres.n_padded}, middle_(centres.middle),
        group_(table_) {
    if constexpr (std::is_same_v<Value, float>) {
      if (exact || rows.n_rows <= kFewRows) return;
      RoughCentres rough(table_, middle_);
      trusts_ = rough.hold();
      if (trusts_) rough_ = std::make_unique<Rough>(std::move(rough));
    }
  }

  /// The number of rows of a tile.
  index_t n_at_once() const {
    const index_t n = kTileBytes / (static_cast<index_t>(sizeof(Value)) * (rows_.n_features + 1)) / kGroup * kGroup;
    return n < kGroup ? kGroup : n < kTile ? n : kTile;
  }
  /// The nearest centre of each row of a tile, and its cost if `costs` is not null, which requires `exact`.
  template <int Bytes>
  THRESHER_INLINE void find(index_t begin, index_t end, std::int32_t* labels, double* costs) {
    if constexpr (std::is_same_v<Value, float>)
      if (trusts_) return find_roughly<Bytes>(begin, end, labels);
    const Value* x[kGroup];
    for (index_t i = begin; i < end; i += kGroup, labels += kGroup) {
      const index_t n = point_from(x, i, end);
      if (n <= kFewRows) {
        for (index_t r = 0; r < n; ++r) {
          labels[r] = find_alone(x[r]);
          if (costs) costs[i - begin + r] = group_.costs[labels[r]];
        }
        return;
      }
      compare<Bytes>(x, table_, middle_, group_);
      find_least<Bytes>(table_.n_padded, group_);
      for (index_t r = 0; r < n; ++r) labels[r] = static_cast<std::int32_t>(group_.at[r]);
      if (costs) std::copy_n(group_.least, n, costs + (i - begin));
    }
  }
  /// The costs of rows at all centres: (end - begin, n_padded).
  template <int Bytes>
  THRESHER_INLINE void put(index_t begin, index_t end, double* out) {
    const Value* x[kGroup];
    for (index_t i = begin; i < end; i += kGroup) {
      const index_t n = point_from(x, i, end);
      compare<Bytes>(x, table_, middle_, group_);
      for (index_t r = 0; r < n; ++r)
        for (index_t c = 0; c < table_.n_padded; ++c) *out++ = group_.costs[c * kGroup + r];
    }
  }

 private:
  struct Rough {
    RoughCentres centres;
    Group<float> group;
    explicit Rough(RoughCentres&& of) : centres(std::move(of)), group(centres.table()) {}
  };
  const DenseRows<Value>& rows_;
  Table<double> table_;
  const double* middle_;
  Group<double> group_;
  std::unique_ptr<Rough> rough_;
  bool trusts_ = false;  // whether float32 is certain for most rows

  /// Points x to a group of rows from `begin` on, and returns their number. Pointers beyond the end repeat the last row.
  THRESHER_INLINE index_t point_from(const Value** x, index_t begin, index_t end) const {
    const index_t n = end - begin < kGroup ? end - begin : kGroup;
    const Value* next = rows_.values + begin * rows_.n_features;
    for (index_t r = 0; r < kGroup; ++r) {
      x[r] = next;
      if (r + 1 < n) next += rows_.n_features;
    }
    return n;
  }
  template <int Bytes>
  THRESHER_INLINE void find_roughly(index_t begin, index_t end, std::int32_t* labels) {
    const Value* x[kGroup];
    index_t n_unsure = 0;
    Group<float>& group = rough_->group;
    for (index_t i = begin; i < end; i += kGroup, labels += kGroup) {
      const index_t n = point_from(x, i, end);
      compare<Bytes>(x, rough_->centres.table(), middle_, group);
      find_least<Bytes>(table_.n_padded, group);
      std::copy_n(group.at, n, labels);
      const float apart = rough_->centres.apart(group.square);
      bool tells = true;
      for (index_t r = 0; r < kGroup; ++r) tells &= group.second[r] - group.least[r] > apart;
      for (index_t r = 0; !tells && r < n; ++r)
        if (!(group.second[r] - group.least[r] > apart)) {
          labels[r] = find_alone(x[r]);
          ++n_unsure;
        }
    }
    trusts_ = kMostUnsure * n_unsure <= end - begin;
  }
  /// The nearest centre of one row.
  THRESHER_INLINE std::int32_t find_alone(const Value* x) {
    const index_t n = table_.n_padded;
    double* const costs = group_.costs.data();
    std::copy_n(table_.offsets, n, costs);
    for (index_t j = 0; j < table_.n_features; ++j) {
      const double value = static_cast<double>(x[j]) - (middle_ ? middle_[j] : 0.0);
      const double* const w = table_.weights + j * n;
      THRESHER_NO_OVERLAP
      for (index_t c = 0; c < n; ++c) costs[c] += w[c] * value;
    }
    return static_cast<std::int32_t>(std::min_element(costs, costs + n) - costs);
  }
};

}  // namespace thresher
