// A hash table from names to columns. A slot holds a short name completely, so most lookups read one cache line.
#pragma once
#include <algorithm>
#include <cstdint>
#include <cstring>
#include <string_view>
#include <vector>

#include "compiler.hpp"
#include "rows.hpp"

namespace thresher {

/// Open addressing with linear probing. The caller computes hashes and compares long names.
class NameTable {
 public:
  static constexpr index_t missing = -1;

  std::size_t size() const { return size_; }
  void prefetch(std::size_t hash) const { prefetch_line(slots_.data() + (hash & mask_)); }

  /// The column of a name, or `missing`. is_it(column) must compare a long name with that of the column; hash, size and first
  /// bytes agree already.
  template <class IsIt> index_t find(std::size_t hash, std::string_view name, IsIt is_it) const {
    if (size_ == 0) return missing;
    const Slot wanted = slot_of(hash, name, missing);
    for (std::size_t at = hash & mask_;; at = (at + 1) & mask_) {
      const Slot& slot = slots_[at];
      if (slot.column == missing) return missing;
      if (slot.hash != hash || slot.size != wanted.size || std::memcmp(slot.begin, wanted.begin, sizeof slot.begin) != 0)
        continue;
      if (name.size() <= sizeof slot.begin || is_it(slot.column)) return slot.column;
    }
  }

  /// Adds a name that is not in the table.
  void add(std::size_t hash, std::string_view name, index_t column) {
    if (4 * (size_ + 1) > 3 * slots_.size()) widen();
    put(slot_of(hash, name, static_cast<std::int32_t>(column)));
    ++size_;
  }

 private:
  /// Half a cache line.
  struct alignas(32) Slot {
    std::size_t hash;
    std::int32_t column;
    std::uint32_t size;
    char begin[16];
  };

  static Slot slot_of(std::size_t hash, std::string_view name, std::int32_t column) {
    Slot slot{hash, column, static_cast<std::uint32_t>(name.size()), {}};
    std::memcpy(slot.begin, name.data(), std::min(name.size(), sizeof slot.begin));
    return slot;
  }
  void put(const Slot& slot) {
    std::size_t at = slot.hash & mask_;
    while (slots_[at].column != missing) at = (at + 1) & mask_;
    slots_[at] = slot;
  }
  void widen() {
    const std::vector<Slot> before(std::move(slots_));
    slots_.assign(std::max<std::size_t>(16, 2 * before.size()), Slot{0, missing, 0, {}});
    mask_ = slots_.size() - 1;
    for (const Slot& slot : before)
      if (slot.column != missing) put(slot);
  }

  std::vector<Slot> slots_;
  std::size_t size_ = 0, mask_ = 0;
};

}  // namespace thresher
