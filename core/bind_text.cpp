// Columns of text in, numbers out. Checks the structure of what it is given.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <tuple>

#include "bind_arrays.hpp"
#include "factorize.hpp"
#include "side_by_side.hpp"
#include "words.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace thresher {
namespace {

using Seen = nb::ndarray<std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

std::uint64_t seed_of(const nb::bytes& prefix) { return hash_bytes(prefix.c_str(), prefix.size()); }

Buckets buckets_for(std::int64_t n_buckets, std::optional<Seen>& seen) {
  if (n_buckets < 1 || n_buckets > (std::int64_t{1} << 30)) throw std::invalid_argument("n_buckets must be 1 ... 2^30.");
  if (seen && (seen->shape(0) != static_cast<std::size_t>(n_buckets) || seen->shape(1) != 3))
    throw std::invalid_argument("seen must have three numbers for each bucket.");
  return Buckets(static_cast<std::uint64_t>(n_buckets), seen ? seen->data() : nullptr);
}

nb::tuple news(Buckets& buckets) { return nb::make_tuple(array(buckets.places), array(buckets.ends), array(buckets.bytes)); }

nb::tuple factorize(In<std::int64_t> offsets, In<std::uint8_t> data) {
  const Texts texts = checked_texts(offsets, data);
  if (texts.n > std::numeric_limits<std::int32_t>::max()) throw std::invalid_argument("too many texts.");
  std::optional<Factorized> done;
  {
    nb::gil_scoped_release unlocked;
    done.emplace(texts);
  }
  return nb::make_tuple(array(done->codes), array(done->first));
}

nb::tuple hash_texts(In<std::int64_t> offsets, In<std::uint8_t> data, const nb::bytes& prefix, std::int64_t n_buckets,
                     std::optional<Seen> seen) {
  const Texts texts = checked_texts(offsets, data);
  const std::uint64_t seed = seed_of(prefix);
  Buckets buckets = buckets_for(n_buckets, seen);
  Growing<std::int32_t> found;
  {
    nb::gil_scoped_release unlocked;
    for (std::int64_t i = 0; i < texts.n; ++i)
      found.push(buckets.add(texts.begin(i), static_cast<std::size_t>(texts.end(i) - texts.begin(i)), seed));
  }
  return nb::make_tuple(array(found), news(buckets));
}

nb::tuple hash_words(In<std::int64_t> offsets, In<std::uint8_t> data, const nb::bytes& prefix, std::int64_t n_buckets, int ngrams,
                     std::optional<Seen> seen) {
  if (ngrams < 1 || ngrams > 2) throw std::invalid_argument("ngrams must be 1 or 2.");
  const Texts texts = checked_texts(offsets, data);
  const std::uint64_t seed = seed_of(prefix);
  Buckets buckets = buckets_for(n_buckets, seen);
  WordCounts counts;
  {
    nb::gil_scoped_release unlocked;
    count_words(texts, seed, ngrams == 2, buckets, counts);
  }
  return nb::make_tuple(array(counts.values), array(counts.columns), array(counts.starts), news(buckets));
}

using Piece = std::tuple<In<double>, In<std::int32_t>, In<std::int64_t>>;

template <class Value> nb::tuple joined(const std::vector<CsrPiece>& pieces, std::int64_t n_rows) {
  CsrWhole<Value> whole;
  {
    nb::gil_scoped_release unlocked;
    side_by_side(pieces, n_rows, whole);
  }
  return nb::make_tuple(array(whole.values), array(whole.columns), array(whole.starts));
}

nb::tuple stack_rows(const std::vector<Piece>& given, std::int64_t n_rows, bool float32) {
  std::vector<CsrPiece> pieces;
  for (const auto& [values, columns, starts] : given) {
    if (values.size() != columns.size()) throw std::invalid_argument("values and columns must be equally long.");
    if (n_rows < 0 || starts.size() != static_cast<std::size_t>(n_rows) + 1)
      throw std::invalid_argument("starts must be one longer than there are rows.");
    if (!Texts{starts.data(), nullptr, n_rows}.fit(static_cast<std::int64_t>(values.size())))
      throw std::invalid_argument("starts must rise and lie within the values.");
    pieces.push_back({values.data(), columns.data(), starts.data()});
  }
  return (float32 ? joined<float> : joined<double>)(pieces, n_rows);
}

}  // namespace

void bind_text(nb::module_& m) {
  m.def("factorize", &factorize, "offsets"_a.noconvert(), "data"_a.noconvert(),
        "Texts -> (a code for each, where each different one first appears).");
  m.def("hash_texts", &hash_texts, "offsets"_a.noconvert(), "data"_a.noconvert(), "prefix"_a, "n_buckets"_a,
        "seen"_a.noconvert() = nb::none(),
        "Texts -> (a bucket for each, the new ones among them: (2 * bucket + slot, offsets, data)).");
  m.def("hash_words", &hash_words, "offsets"_a.noconvert(), "data"_a.noconvert(), "prefix"_a, "n_buckets"_a, "ngrams"_a = 1,
        "seen"_a.noconvert() = nb::none(), "Texts -> (counts, buckets, starts, new words: (2 * bucket + slot, offsets, data)).");
  m.def("stack_rows", &stack_rows, "pieces"_a, "n_rows"_a, "float32"_a = false,
        "Sparse pieces of the same rows -> (values, columns, starts), columns sorted and unique.");
}

}  // namespace thresher
