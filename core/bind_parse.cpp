// Text in, NumPy arrays out, and back. Checks the structure of what it is given; what text says is the parsers' affair.
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>

#include <cstdlib>
#include <cstring>
#include <initializer_list>
#include <optional>
#include <stdexcept>

#include "format.hpp"
#include "parse_csv.hpp"
#include "parse_svmlight.hpp"

namespace nb = nanobind;
using namespace nb::literals;

namespace thresher {
namespace {

/// The bytes of anything that lends a buffer (bytes, memoryview, mmap, array), for as long as this lives.
class Lent {
 public:
  explicit Lent(nb::handle owner) {
    if (PyObject_GetBuffer(owner.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { PyBuffer_Release(&view_); }
  const char* data() const { return static_cast<const char*>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_;
};

/// Gives the storage to NumPy, without a copy.
template <class T> nb::object array(Growing<T>& numbers, std::initializer_list<std::size_t> shape) {
  T* const data = numbers.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

template <class T> nb::object array(Growing<T>& numbers) { return array(numbers, {numbers.size()}); }

template <class Rows> Progress read_unlocked(const Chunk& chunk, Rows& rows) {
  nb::gil_scoped_release unlocked;
  return read_lines(chunk, rows);
}

template <class Value> nb::tuple svmlight(const Chunk& chunk, std::int64_t n_features, bool zero_based) {
  SvmlightRows<Value> rows(n_features, zero_based);
  rows.expect(chunk.text, chunk.size);
  const Progress done = read_unlocked(chunk, rows);
  nb::object columns = rows.wide() ? array(rows.wide_columns) : array(rows.columns);
  return nb::make_tuple(array(rows.targets), array(rows.values), columns, array(rows.starts), rows.width, done.consumed,
                        done.lines, done.skipped);
}

nb::tuple parse_svmlight(nb::handle text, bool final, std::int64_t first_line, bool zero_based,
                         std::optional<std::int64_t> n_features, bool float32, bool skip_malformed,
                         std::int64_t max_rows) {
  if (n_features && *n_features < 0) throw std::invalid_argument("n_features must not be negative.");
  const Lent lent(text);
  const Chunk chunk{lent.data(), lent.size(), final, skip_malformed, first_line, max_rows};
  return (float32 ? svmlight<float> : svmlight<double>)(chunk, n_features.value_or(-1), zero_based);
}

template <class Value>
nb::tuple csv(const Chunk& chunk, std::int64_t n_columns, std::int64_t target, char delimiter) {
  CsvRows<Value> rows(n_columns, target, delimiter);
  const Progress done = read_unlocked(chunk, rows);
  const auto n_rows = static_cast<std::size_t>(done.rows);
  const auto n_values = static_cast<std::size_t>(n_columns - (target >= 0));
  nb::object targets = target >= 0 ? array(rows.targets) : nb::none();
  return nb::make_tuple(targets, array(rows.values, {n_rows, n_values}), done.consumed, done.lines, done.skipped);
}

nb::tuple parse_csv(nb::handle text, std::int64_t n_columns, bool final, std::int64_t first_line, char delimiter,
                    std::int64_t target, bool float32, bool skip_malformed, std::int64_t max_rows) {
  if (n_columns < 1) throw std::invalid_argument("n_columns must be at least 1.");
  if (target < -1 || target >= n_columns) throw std::invalid_argument("target must be a column, or -1 for none.");
  if (std::strchr("0123456789+-.eE\"\r\n", delimiter))
    throw std::invalid_argument("delimiter must not be part of a number.");
  const Lent lent(text);
  const Chunk chunk{lent.data(), lent.size(), final, skip_malformed, first_line, max_rows};
  return (float32 ? csv<float> : csv<double>)(chunk, n_columns, target, delimiter);
}

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

template <class Value, class Index>
nb::bytes format(In<Value> values, In<Index> columns, In<std::int64_t> starts, In<double> targets, bool zero_based) {
  if (columns.size() != values.size()) throw std::invalid_argument("values and columns must be equally long.");
  if (starts.size() != targets.size() + 1) throw std::invalid_argument("starts must be one longer than targets.");
  const CsrView<Value, Index> rows{values.data(),  columns.data(), starts.data(),
                                   targets.data(), static_cast<std::int64_t>(targets.size()),
                                   static_cast<std::int64_t>(values.size())};
  Growing<char> out;
  {
    nb::gil_scoped_release unlocked;
    out = format_svmlight(rows, zero_based);
  }
  return nb::bytes(out.data(), out.size());
}

template <class Value, class Index> void bind_format(nb::module_& m) {
  m.def("format_svmlight", &format<Value, Index>, "values"_a.noconvert(), "columns"_a.noconvert(),
        "starts"_a.noconvert(), "targets"_a.noconvert(), "zero_based"_a, "Rows -> svmlight text.");
}

}  // namespace

void bind_parse(nb::module_& m) {
  m.def("parse_svmlight", &parse_svmlight, "text"_a, nb::kw_only(), "final"_a = true, "first_line"_a = 1,
        "zero_based"_a = false, "n_features"_a = nb::none(), "float32"_a = false, "skip_malformed"_a = false,
        "max_rows"_a = -1,
        "svmlight text -> (targets, values, columns, starts, largest column + 1, consumed bytes, lines, skipped).");
  m.def("parse_csv", &parse_csv, "text"_a, nb::kw_only(), "n_columns"_a, "final"_a = true, "first_line"_a = 1,
        "delimiter"_a = ',', "target"_a = -1, "float32"_a = false, "skip_malformed"_a = false, "max_rows"_a = -1,
        "CSV text -> (targets or None, values, consumed bytes, lines, skipped).");
  bind_format<double, std::int32_t>(m);
  bind_format<double, std::int64_t>(m);
  bind_format<float, std::int32_t>(m);
  bind_format<float, std::int64_t>(m);
}

}  // namespace thresher
