// Rows of a kernel matrix: all in memory, or computed on demand and cached; and copies of the rows in use, in single precision.
#pragma once
#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <list>
#include <memory>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace thresher {

struct KernelRows {
  /// Row i, valid until the second call after this one.
  virtual const double* row(index_t i) = 0;
  virtual ~KernelRows() = default;
};

struct WholeMatrix final : KernelRows {
  const double* values;
  index_t n;
  WholeMatrix(const double* v, index_t size) : values(v), n(size) {}
  const double* row(index_t i) override { return values + i * n; }
};

/// A cache of the most recently used arrays, at least two, each with a key below `size`.
template <class Value>
class Recent {
 public:
  Recent(index_t size, std::size_t room) : most(room < 2 ? 2 : room), places(static_cast<std::size_t>(size), order.end()) {}

  /// Array i, computed by fill(out) if it is not in the cache. `length` must be the same in all calls. The array is valid until
  /// the second call after this one.
  template <class Fill>
  Value* get(index_t i, index_t length, Fill fill) {
    auto& place = places[static_cast<std::size_t>(i)];
    if (place != order.end()) {
      order.splice(order.begin(), order, place);
      return place->second.get();
    }
    if (!spare.empty()) {
      order.splice(order.begin(), spare, spare.begin());
      order.front().first = i;
    } else if (order.size() < most) {
      order.emplace_front(i, std::unique_ptr<Value[]>(new Value[static_cast<std::size_t>(length)]));
    } else {
      places[static_cast<std::size_t>(order.back().first)] = order.end();
      order.splice(order.begin(), order, std::prev(order.end()));
      order.front().first = i;
    }
    place = order.begin();
    fill(place->second.get());
    return place->second.get();
  }
  void clear() {
    spare.splice(spare.end(), order);
    std::fill(places.begin(), places.end(), order.end());
  }
  /// Gives every cached array a new key and calls change(values), or drops it if the key is -1.
  template <class Change>
  void renumber(const std::vector<index_t>& number, Change change) {
    std::fill(places.begin(), places.end(), order.end());
    for (auto next = order.begin(); next != order.end();) {
      const auto each = next++;
      each->first = number[static_cast<std::size_t>(each->first)];
      if (each->first < 0) {
        spare.splice(spare.end(), order, each);
        continue;
      }
      change(each->second.get());
      places[static_cast<std::size_t>(each->first)] = each;
    }
  }

 private:
  using Entry = std::pair<index_t, std::unique_ptr<Value[]>>;
  std::size_t most;
  std::list<Entry> order, spare;  // the most recently used comes first; memory of dropped arrays
  std::vector<typename std::list<Entry>::iterator> places;
};

/// Rows that fill(i, out) computes, with a cache.
template <class Fill>
struct RecentRows final : KernelRows {
  RecentRows(index_t size, std::size_t room, Fill how) : n(size), kept(size, room), fill(std::move(how)) {}

  const double* row(index_t i) override {
    return kept.get(i, n, [&](double* out) { fill(i, out); });
  }

 private:
  index_t n;
  Recent<double> kept;
  Fill fill;
};

/// Rows restricted to the variables in use, with a cache. They are in single precision, which halves the memory that a step
/// reads. Entries are multiplied by a power of two that brings the largest diagonal entry into [1, 2).
class NarrowRows {
 public:
  NarrowRows(KernelRows& from, index_t size, std::size_t room, const double* diagonal)
      : source(from), n(size), columns(size), kept(size, room) {
    double most = 0;
    for (index_t i = 0; i < n; ++i) most = std::max(most, diagonal[i]);
    if (most > 0 && std::isfinite(most)) per_unit = std::ldexp(1.0, std::min(1000, -std::ilogb(most)));
  }

  double scale() const { return per_unit; }

  /// Takes all variables into use, and clears the cache.
  void widen() {
    kept.clear();
    columns = n;
  }
  /// Keeps only the variables at these places, which are in rising order.
  void narrow(const std::vector<index_t>& places) {
    std::vector<index_t> number(static_cast<std::size_t>(n), -1);
    for (std::size_t p = 0; p < places.size(); ++p) number[static_cast<std::size_t>(places[p])] = static_cast<index_t>(p);
    kept.renumber(number, [&](float* row) {
      for (std::size_t p = 0; p < places.size(); ++p) row[p] = row[places[p]];
    });
    columns = static_cast<index_t>(places.size());
  }
  /// The row of the variable at a place. `ids` maps places to variables.
  const float* row(index_t place, const index_t* ids) {
    return kept.get(place, n, [&](float* out) {
      const double* const k = source.row(ids[place]);
      constexpr double end = std::numeric_limits<float>::max();  // exceeded by matrices that are not kernels
      const auto single = [&](double value) { return static_cast<float>(std::min(end, std::max(-end, value * per_unit))); };
      for (index_t p = 0; p < columns; ++p) out[p] = single(k[ids[p]]);
    });
  }

 private:
  KernelRows& source;
  index_t n, columns;
  Recent<float> kept;
  double per_unit = 1;
};

}  // namespace thresher
