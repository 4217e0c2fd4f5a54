// Groups of weights: the members of each group, and the groups that contain a weight.
#pragma once
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>
#include <stdexcept>
#include <string>
#include <utility>
#include <vector>

#include "rows.hpp"

namespace thresher {

/// Built and checked once, in O(members); passes only read it. A column that is in no group is a group of its own, which is never
/// stored, so columns that appear later cost nothing.
struct Groups {
  struct Place { std::int32_t group, size; };  // group -1: a column of its own

  std::vector<index_t> starts;  // members[starts[g]] ... members[starts[g + 1] - 1] are the columns of group g
  std::vector<std::int32_t> members;
  std::vector<Place> places;   // of each column, if groups do not overlap
  std::vector<index_t> first;  // if they do: shared[first[j]] ... shared[first[j + 1] - 1]
  std::vector<Place> shared;
  bool overlapping = false;

  Groups(std::vector<index_t> group_starts, std::vector<std::int32_t> group_members, index_t n_features)
      : starts(std::move(group_starts)), members(std::move(group_members)) {
    const index_t n_covered = check(n_features);
    if (overlapping) list_shared(n_covered);
    else places.resize(n_covered, Place{-1, 1});
    if (!overlapping)
      for (index_t g = 0; g < n_groups(); ++g)
        for (const std::int32_t j : of(g)) places[j] = place(g);
  }

  index_t n_groups() const { return static_cast<index_t>(starts.size()) - 1; }
  index_t size(index_t g) const { return starts[g + 1] - starts[g]; }
  index_t n_covered() const { return static_cast<index_t>(overlapping ? first.size() - 1 : places.size()); }

  struct Members {
    const std::int32_t *from, *to;
    const std::int32_t* begin() const { return from; }
    const std::int32_t* end() const { return to; }
  };
  Members of(index_t g) const { return {members.data() + starts[g], members.data() + starts[g + 1]}; }

 private:
  Place place(index_t g) const { return {static_cast<std::int32_t>(g), static_cast<std::int32_t>(size(g))}; }

  static void require(bool ok, const std::string& message) {
    if (!ok) throw std::invalid_argument(message);
  }
  /// One more than the largest column in any group.
  index_t check(index_t n_features) {
    require(!starts.empty() && starts.front() == 0 && starts.back() == static_cast<index_t>(members.size()),
            "groups must have a start and an end");
    index_t n_covered = 0;
    for (index_t g = 0; g < n_groups(); ++g) {
      require(starts[g + 1] >= starts[g], "the starts of groups must not decrease");
      require(starts[g + 1] <= static_cast<index_t>(members.size()), "groups must not reach beyond their members");
      require(size(g) > 0, "group " + std::to_string(g) + " is empty");
      for (const std::int32_t j : of(g)) {
        require(j >= 0 && j < n_features, "group " + std::to_string(g) + " names column " + std::to_string(j) + ", and X has " +
                                              std::to_string(n_features));
        n_covered = n_covered > j ? n_covered : j + 1;
      }
    }
    std::vector<std::int32_t> holder(n_covered, -1);
    for (index_t g = 0; g < n_groups(); ++g)
      for (const std::int32_t j : of(g)) {
        require(holder[j] != g, "group " + std::to_string(g) + " names column " + std::to_string(j) + " twice");
        overlapping |= holder[j] >= 0;
        holder[j] = static_cast<std::int32_t>(g);
      }
    return n_covered;
  }
  void list_shared(index_t n_covered) {
    first.assign(n_covered + 1, 0);
    for (const std::int32_t j : members) ++first[j + 1];
    for (index_t j = 0; j < n_covered; ++j) first[j + 1] += first[j];
    shared.resize(members.size());
    std::vector<index_t> next(first.begin(), first.end() - 1);
    for (index_t g = 0; g < n_groups(); ++g)
      for (const std::int32_t j : of(g)) shared[next[j]++] = place(g);
  }
};

/// The groups that contain a weight: at most one, ...
struct Partition {
  const Groups& groups;
  void prefetch(index_t j) const { prefetch_line(groups.places.data() + j); }
  /// Calls f(group, size) for every group that contains weight j. False if there is none.
  template <class F>
  bool each(index_t j, F f) const {
    if (j >= static_cast<index_t>(groups.places.size())) return false;
    const Groups::Place p = groups.places[j];
    if (p.group < 0) return false;
    f(p.group, p.size);
    return true;
  }
};

/// ... or any number of them.
struct Cover {
  const Groups& groups;
  void prefetch(index_t j) const { prefetch_line(groups.first.data() + j); }
  template <class F>
  bool each(index_t j, F f) const {
    if (j >= groups.n_covered()) return false;
    const index_t begin = groups.first[j], end = groups.first[j + 1];
    for (index_t k = begin; k < end; ++k) f(groups.shared[k].group, groups.shared[k].size);
    return begin < end;
  }
};

/// Caches values of groups between two steps; each is computed once. Pages that are never touched stay unmapped, so the cache may
/// have an entry for every group.
template <class T>
struct Memo {
  struct Entry {
    T value;
    std::uint64_t stamp;
  };
  std::unique_ptr<Entry, void (*)(void*)> entries;
  std::uint64_t now = 1;

  explicit Memo(index_t n) : entries(static_cast<Entry*>(std::calloc(n > 0 ? n : 1, sizeof(Entry))), std::free) {
    if (!entries) throw std::bad_alloc();
  }
  template <class Find>
  const T& at(index_t g, Find find) const {
    Entry& e = entries.get()[g];
    if (e.stamp != now) {
      e.value = find();
      e.stamp = now;
    }
    return e.value;
  }
  void forget() { ++now; }
};

}  // namespace thresher
