// Vowpal Wabbit text to NumPy arrays. Checks the structure of its arguments; the parser checks the text.
#include <functional>

#include "bind_arrays.hpp"
#include "parse_vw.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace thresher {
namespace {

using Seen = nb::ndarray<std::uint32_t, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void check_width(std::int64_t n_features) {
  if (n_features < 1 || n_features > (std::int64_t{1} << 30)) throw std::invalid_argument("n_features must be 1 ... 2^30.");
}

template <class Value> nb::tuple vw(const Chunk& chunk, std::int64_t n_features) {
  VwRows<Value> rows(n_features);
  Progress done;
  {
    nb::gil_scoped_release unlocked;
    done = read_lines(chunk, rows);
  }
  return nb::make_tuple(array(rows.targets), array(rows.weights), array(rows.values), array(rows.columns), array(rows.starts),
                        done.consumed, done.lines, done.skipped);
}

nb::tuple parse_vw(nb::handle text, std::int64_t n_features, bool final, std::int64_t first_line, bool float32,
                   bool skip_malformed, std::int64_t max_rows) {
  check_width(n_features);
  const Lent lent(text);
  const Chunk chunk{lent.data(), lent.size(), final, skip_malformed, first_line, max_rows};
  return (float32 ? vw<float> : vw<double>)(chunk, n_features);
}

nb::tuple name_vw(nb::handle text, std::int64_t n_features, In<std::int32_t> wanted, Seen seen, bool final) {
  check_width(n_features);
  const std::int32_t* const begin = wanted.data();
  if (std::adjacent_find(begin, begin + wanted.size(), std::greater_equal<>()) != begin + wanted.size())
    throw std::invalid_argument("wanted must rise.");
  if (seen.shape(0) != wanted.size() || seen.shape(1) != 3)
    throw std::invalid_argument("seen must have three numbers for each column.");
  const Lent lent(text);
  const Chunk chunk{lent.data(), lent.size(), final, true, 1, -1};
  VwNames names(n_features, begin, wanted.size(), seen.data());
  Progress done;
  {
    nb::gil_scoped_release unlocked;
    done = read_lines(chunk, names);
  }
  return nb::make_tuple(array(names.buckets.places), array(names.buckets.ends), array(names.buckets.bytes), done.consumed,
                        done.lines);
}

}  // namespace

void bind_vw(nb::module_& m) {
  m.def("parse_vw", &parse_vw, "text"_a, nb::kw_only(), "n_features"_a, "final"_a = true, "first_line"_a = 1, "float32"_a = false,
        "skip_malformed"_a = false, "max_rows"_a = -1,
        "Vowpal Wabbit text -> (targets, weights, values, columns, starts, consumed bytes, lines, skipped).");
  m.def("name_vw", &name_vw, "text"_a, nb::kw_only(), "n_features"_a, "wanted"_a.noconvert(), "seen"_a.noconvert(),
        "final"_a = true, "The features behind some columns: (2 * place + slot, offsets, data, consumed bytes, lines).");
}

}  // namespace thresher
