// svmlight text to NumPy arrays, and back. Checks the structure of its arguments; the parser checks the text.
#include <nanobind/stl/optional.h>

#include <optional>
#include <stdexcept>

#include "bind_arrays.hpp"
#include "format.hpp"
#include "parse_svmlight.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace thresher {
namespace {

template <class Value> nb::tuple svmlight(const Chunk& chunk, std::int64_t n_features, bool zero_based,
                                          std::int64_t max_features) {
  SvmlightRows<Value> rows(n_features, zero_based, max_features);
  rows.expect(chunk.text, chunk.size);
  Progress done;
  {
    nb::gil_scoped_release unlocked;
    done = read_lines(chunk, rows);
  }
  nb::object columns = rows.wide() ? array(rows.wide_columns) : array(rows.columns);
  return nb::make_tuple(array(rows.targets), array(rows.values), columns, array(rows.starts), rows.width, done.consumed,
                        done.lines, done.skipped);
}

nb::tuple parse_svmlight(nb::handle text, bool final, std::int64_t first_line, bool zero_based,
                         std::optional<std::int64_t> n_features, bool float32, bool skip_malformed, std::int64_t max_rows,
                         std::optional<std::int64_t> max_features) {
  if (n_features && *n_features < 0) throw std::invalid_argument("n_features must not be negative.");
  if (max_features && *max_features < 0) throw std::invalid_argument("max_features must not be negative.");
  const Lent lent(text);
  const Chunk chunk{lent.data(), lent.size(), final, skip_malformed, first_line, max_rows};
  return (float32 ? svmlight<float> : svmlight<double>)(chunk, n_features.value_or(-1), zero_based, max_features.value_or(-1));
}

template <class Value, class Index>
nb::bytes format(In<Value> values, In<Index> columns, In<std::int64_t> starts, In<double> targets, bool zero_based) {
  if (columns.size() != values.size()) throw std::invalid_argument("values and columns must be equally long.");
  if (starts.size() != targets.size() + 1) throw std::invalid_argument("starts must be one longer than targets.");
  const CsrView<Value, Index> rows{values.data(),
                                   columns.data(),
                                   starts.data(),
                                   targets.data(),
                                   static_cast<std::int64_t>(targets.size()),
                                   static_cast<std::int64_t>(values.size())};
  Growing<char> out;
  {
    nb::gil_scoped_release unlocked;
    out = format_svmlight(rows, zero_based);
  }
  return nb::bytes(out.data(), out.size());
}

template <class Value, class Index> void bind_format(nb::module_& m) {
  m.def("format_svmlight", &format<Value, Index>, "values"_a.noconvert(), "columns"_a.noconvert(), "starts"_a.noconvert(),
        "targets"_a.noconvert(), "zero_based"_a, "Rows -> svmlight text.");
}

}  // namespace

void bind_parse(nb::module_& m) {
  m.def("parse_svmlight", &parse_svmlight, "text"_a, nb::kw_only(), "final"_a = true, "first_line"_a = 1, "zero_based"_a = false,
        "n_features"_a = nb::none(), "float32"_a = false, "skip_malformed"_a = false, "max_rows"_a = -1,
        "max_features"_a = nb::none(),
        "svmlight text -> (targets, values, columns, starts, largest column + 1, consumed bytes, lines, skipped).");
  bind_format<double, std::int32_t>(m);
  bind_format<double, std::int64_t>(m);
  bind_format<float, std::int32_t>(m);
  bind_format<float, std::int64_t>(m);
}

}  // namespace thresher
