// Rows of a kernel matrix: all in memory, or computed on demand and cached.
#pragma once
#include <cstddef>
#include <list>
#include <unordered_map>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace thresher {

struct KernelRows {
  /// Row i, valid until the row after the next is asked for.
  virtual const double* row(index_t i) = 0;
  virtual ~KernelRows() = default;
};

struct WholeMatrix final : KernelRows {
  const double* values;
  index_t n;
  WholeMatrix(const double* v, index_t size) : values(v), n(size) {}
  const double* row(index_t i) override { return values + i * n; }
};

/// A cache of the rows used last, at least two. `fill(i, out)` computes a row.
template <class Fill>
struct RecentRows final : KernelRows {
  RecentRows(index_t size, std::size_t room, Fill how) : n(size), most(room < 2 ? 2 : room), fill(std::move(how)) {}

  const double* row(index_t i) override {
    if (const auto known = places.find(i); known != places.end()) {
      order.splice(order.begin(), order, known->second);
      return known->second->second.data();
    }
    if (order.size() < most) {
      order.emplace_front(i, std::vector<double>(static_cast<std::size_t>(n)));
    } else {
      places.erase(order.back().first);
      order.splice(order.begin(), order, std::prev(order.end()));
      order.front().first = i;
    }
    places[i] = order.begin();
    fill(i, order.front().second.data());
    return order.front().second.data();
  }

 private:
  using Entry = std::pair<index_t, std::vector<double>>;
  index_t n;
  std::size_t most;
  Fill fill;
  std::list<Entry> order;  // the one used last comes first
  std::unordered_map<index_t, std::list<Entry>::iterator> places;
};

}  // namespace thresher
