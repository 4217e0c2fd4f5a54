// Texts by hash bucket: the first two texts of each bucket are remembered, so that hashed features have names.
#pragma once

#include <cstdint>

#include "growing.hpp"
#include "hash.hpp"

namespace thresher {

/// Three numbers per bucket: fingerprints of the first two texts (0 for none), and whether there were more.
class Buckets {
 public:
  Growing<std::int32_t> places;  // 2 * bucket + 0 or 1, for each text that is newly remembered
  Growing<std::int64_t> ends;    // ends of their bytes, each the start of the next; the first entry is 0
  Growing<std::uint8_t> bytes;

  /// Without `seen`, texts are not remembered.
  Buckets(std::uint64_t n, std::uint32_t* seen) : n_(n), seen_(seen) { ends.push(0); }

  std::int32_t add(const char* text, std::size_t length, std::uint64_t seed) {
    const std::uint64_t hash = hash_bytes(text, length, seed);
    const std::uint32_t bucket = bucket_of(hash, n_);
    note(bucket, hash, text, length);
    return static_cast<std::int32_t>(bucket);
  }

  /// Records that the bucket contains a text with this hash.
  void note(std::uint32_t bucket, std::uint64_t hash, const char* text, std::size_t length) {
    if (!seen_) return;
    std::uint32_t* const known = seen_ + 3 * static_cast<std::size_t>(bucket);
    const std::uint32_t fingerprint = fingerprint_of(hash);
    if (known[0] == fingerprint || known[1] == fingerprint) return;
    if (known[1]) {
      known[2] = 1;
      return;
    }
    const int slot = known[0] ? 1 : 0;
    known[slot] = fingerprint;
    places.push(static_cast<std::int32_t>(2 * bucket) + slot);
    std::uint8_t* const room = bytes.room(length);
    for (std::size_t i = 0; i < length; ++i) room[i] = static_cast<std::uint8_t>(text[i]);
    bytes.commit(length);
    ends.push(static_cast<std::int64_t>(bytes.size()));
  }

 private:
  std::uint64_t n_;
  std::uint32_t* seen_;
};

}  // namespace thresher
