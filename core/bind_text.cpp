// Columns of text to numbers. Checks the structure of its arguments.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/variant.h>
#include <nanobind/stl/vector.h>

#include <limits>
#include <optional>
#include <tuple>

#include "bind_arrays.hpp"
#include "date_parts.hpp"
#include "factorize.hpp"
#include "side_by_side.hpp"
#include "take_texts.hpp"
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

Factorized factorized(const Texts& texts) {
  if (texts.n > std::numeric_limits<std::int32_t>::max()) throw std::invalid_argument("too many texts.");
  nb::gil_scoped_release unlocked;
  return Factorized(texts);
}

nb::tuple factorize(In<std::int64_t> offsets, In<std::uint8_t> data) {
  Factorized done = factorized(checked_texts(offsets, data));
  return nb::make_tuple(array(done.codes), array(done.first));
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

nb::tuple take(In<std::int64_t> offsets, In<std::uint8_t> data, In<std::int64_t> places) {
  const Texts texts = checked_texts(offsets, data);
  Growing<std::int64_t> ends;
  Growing<std::uint8_t> bytes;
  {
    nb::gil_scoped_release unlocked;
    take_texts(texts, places.data(), places.size(), ends, bytes);
  }
  return nb::make_tuple(array(ends), array(bytes));
}

/// Each distinct text is looked up once.
nb::tuple look_up(In<std::int64_t> offsets, In<std::uint8_t> data, const nb::dict& known) {
  const Texts texts = checked_texts(offsets, data);
  const Factorized found = factorized(texts);
  std::vector<std::int32_t> places;
  nb::dict rows_of_new;
  for (std::size_t code = 0; code < found.first.size(); ++code) {
    const std::int64_t i = found.first.data()[code];
    const nb::object text = nb::steal(PyUnicode_DecodeUTF8(texts.begin(i), texts.end(i) - texts.begin(i), "replace"));
    if (!text.is_valid()) throw nb::python_error();
    PyObject* const place = PyDict_GetItemWithError(known.ptr(), text.ptr());
    if (!place && PyErr_Occurred()) throw nb::python_error();
    places.push_back(place ? nb::cast<std::int32_t>(nb::handle(place)) : -1);
    if (!place && !rows_of_new.contains(text)) rows_of_new[text] = i;
  }
  Growing<std::int32_t> each;
  std::int32_t* const out = each.room(found.codes.size());
  for (std::size_t i = 0; i < found.codes.size(); ++i) out[i] = places[static_cast<std::size_t>(found.codes.data()[i])];
  each.commit(found.codes.size());
  return nb::make_tuple(array(each), rows_of_new);
}

nb::tuple date_parts(In<double> days) {
  Growing<std::int64_t> months, weekdays, hours;
  for (std::size_t i = 0; i < days.size(); ++i) {
    const DateParts parts(days.data()[i]);
    months.push(parts.month);
    weekdays.push(parts.weekday);
    hours.push(parts.hour);
  }
  return nb::make_tuple(array(months), array(weekdays), array(hours));
}

using CsrArrays = std::tuple<In<double>, In<std::int32_t>, In<std::int64_t>>;
template <class T> using InRows = nb::ndarray<const T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using GivenPiece = std::tuple<std::int32_t, std::variant<CsrArrays, InRows<double>, InRows<float>, In<std::int32_t>>>;

CsrPiece checked_piece(const CsrArrays& given, std::int64_t n_rows) {
  const auto& [values, columns, starts] = given;
  if (values.size() != columns.size()) throw std::invalid_argument("values and columns must be equally long.");
  if (n_rows < 0 || starts.size() != static_cast<std::size_t>(n_rows) + 1)
    throw std::invalid_argument("starts must be one longer than there are rows.");
  if (!Texts{starts.data(), nullptr, n_rows}.fit(static_cast<std::int64_t>(values.size())))
    throw std::invalid_argument("starts must rise and lie within the values.");
  return {values.data(), columns.data(), starts.data()};
}

void check_height(std::size_t height, std::int64_t n_rows) {
  if (n_rows < 0 || height != static_cast<std::size_t>(n_rows)) throw std::invalid_argument("pieces must have the same rows.");
}

template <class T> DensePiece<T> checked_piece(const InRows<T>& given, std::int64_t n_rows) {
  check_height(given.shape(0), n_rows);
  return {given.data(), static_cast<std::int64_t>(given.shape(1))};
}

OnesPiece checked_piece(const In<std::int32_t>& given, std::int64_t n_rows) {
  check_height(given.size(), n_rows);
  return {given.data()};
}

template <class Value> nb::tuple joined(const std::vector<RowPiece>& pieces, std::int64_t n_rows) {
  CsrWhole<Value> whole;
  {
    nb::gil_scoped_release unlocked;
    side_by_side(pieces, n_rows, whole);
  }
  return nb::make_tuple(array(whole.values), array(whole.columns), array(whole.starts));
}

nb::tuple stack_rows(const std::vector<GivenPiece>& given, std::int64_t n_rows, bool float32) {
  std::vector<RowPiece> pieces;
  pieces.reserve(given.size());
  for (const auto& [first, rows] : given)
    pieces.push_back(
        std::visit([&, begin = first](const auto& piece) { return RowPiece{checked_piece(piece, n_rows), begin}; }, rows));
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
  m.def("take_texts", &take, "offsets"_a.noconvert(), "data"_a.noconvert(), "places"_a.noconvert(),
        "Texts -> (offsets, data) of those at some places.");
  m.def("look_up", &look_up, "offsets"_a.noconvert(), "data"_a.noconvert(), "known"_a,
        "Texts -> (the entry of a dict for each, or -1, and for those it does not have, where they first appear).");
  m.def("date_parts", &date_parts, "days"_a.noconvert(),
        "Days since 1970-01-01 -> (months, weekdays, hours), counted from 1; 0 if the date is missing.");
  m.def("stack_rows", &stack_rows, "pieces"_a.noconvert(), "n_rows"_a, "float32"_a = false,
        "Pieces of the same rows, each (its first column, rows), -> (values, columns, starts), columns sorted and unique. Rows "
        "are dense, sparse (values, columns, starts), or the column of a single 1 in each (none if it is below 0).");
}

}  // namespace thresher
