// Rows.
#include "bind.hpp"
#include "bind_arrays.hpp"
#include "linear_scores.hpp"

namespace thresher {
namespace {

using AnyArray = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;

/// To be checked by the first pass, if that is wished.
template <class SomeRows>
std::unique_ptr<Unchecked> unchecked_if(bool later, const SomeRows& rows) {
  return later ? std::make_unique<Unchecked>(rows.n_rows, rows.n_values(), SomeRows::bytes_each) : nullptr;
}

template <class Value>
Rows dense(const AnyArray& X, bool look, bool later) {
  const DenseRows<Value> rows{static_cast<const Value*>(X.data()), static_cast<index_t>(X.shape(0)),
                              static_cast<index_t>(X.shape(1))};
  Finding finding;
  if (!later) {
    nb::gil_scoped_release nogil;
    finding = scan(rows, rows.n_values(), look);
  }
  return {rows, finding, rows.n_rows, rows.n_features, {}, nb::none(), {}, unchecked_if(later, rows)};
}

Rows dense_rows(const AnyArray& X, bool look, bool later) {
  require(X.ndim() == 2, "dense rows must be a matrix");
  Rows rows = X.dtype() == nb::dtype<double>() ? dense<double>(X, look, later)
            : X.dtype() == nb::dtype<float>()  ? dense<float>(X, look, later)
                                               : throw std::invalid_argument("dense rows must be float32 or float64");
  rows.values = nb::cast(X);
  return rows;
}

/// Copies 64-bit columns to an array of 32-bit ones.
nb::object narrowed(const index_t* columns, std::size_t n) {
  Growing<column_t> narrow;
  column_t* const to = narrow.room(n);
  {
    nb::gil_scoped_release nogil;
    in_parts(static_cast<index_t>(n), static_cast<index_t>(n), [&](index_t begin, index_t end) {
      for (index_t k = begin; k < end; ++k) to[k] = static_cast<column_t>(columns[k]);
    });
  }
  narrow.commit(n);
  return array(narrow);
}

template <class Value, class Column>
Rows csr(const AnyArray& values, const AnyArray& columns, const In<index_t>& starts, index_t n_features, bool look, bool later) {
  const CsrRows<Value, Column> rows{static_cast<const Value*>(values.data()), static_cast<const Column*>(columns.data()),
                                    starts.data(), static_cast<index_t>(starts.shape(0)) - 1, n_features};
  const auto n_stored = static_cast<index_t>(values.shape(0));
  constexpr bool as_they_are = std::is_same_v<Column, column_t>;
  later = later && as_they_are;
  Finding finding;
  {
    nb::gil_scoped_release nogil;
    finding = later ? scan_starts(rows, n_stored) : scan(rows, n_stored, look);
  }
  later = later && finding.fault == Fault::none;
  nb::object kept;
  if constexpr (as_they_are) kept = nb::cast(columns);
  else kept = narrowed(rows.columns, columns.shape(0));
  const CsrRows<Value, column_t> narrow{rows.values, nb::cast<In<column_t>>(kept).data(), rows.starts, rows.n_rows, n_features};
  return {narrow, finding, rows.n_rows, n_features, {}, std::move(kept), {}, unchecked_if(later, rows)};
}

template <class Value>
Rows csr_of(const AnyArray& values, const AnyArray& columns, const In<index_t>& starts, index_t n_features, bool look,
            bool later) {
  if (columns.dtype() == nb::dtype<column_t>()) return csr<Value, column_t>(values, columns, starts, n_features, look, later);
  if (columns.dtype() == nb::dtype<index_t>()) return csr<Value, index_t>(values, columns, starts, n_features, look, later);
  throw std::invalid_argument("columns must be int32 or int64");
}

Rows csr_rows(const AnyArray& values, const AnyArray& columns, const In<index_t>& starts, index_t n_features, bool look,
              bool later) {
  require(values.ndim() == 1 && columns.ndim() == 1 && values.shape(0) == columns.shape(0),
          "values and columns differ in length");
  require(starts.shape(0) >= 1, "starts must have one entry more than there are rows");
  require(n_features >= 0, "n_features must not be negative");
  require(n_features <= most_features, "there are too many features");
  Rows rows = values.dtype() == nb::dtype<double>() ? csr_of<double>(values, columns, starts, n_features, look, later)
            : values.dtype() == nb::dtype<float>()  ? csr_of<float>(values, columns, starts, n_features, look, later)
                                                    : throw std::invalid_argument("values must be float32 or float64");
  rows.values = nb::cast(values);
  rows.starts = nb::cast(starts);
  return rows;
}

using Weights = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Scores = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void linear_scores(const Rows& rows, double bias, const Weights& weights, const Scores& out) {
  Unchecked* const rest = rows.rest();
  const auto n_outputs = static_cast<index_t>(weights.shape(0));
  require(static_cast<index_t>(weights.shape(1)) == rows.n_features + 1,
          "there must be a weight for every feature and the constant");
  require(static_cast<index_t>(out.shape(0)) == rows.n_rows && static_cast<index_t>(out.shape(1)) == n_outputs,
          "out must have a place for every row and output");
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) { run_linear_scores(x, bias, weights.data(), n_outputs, out.data(), rest); }, rows.any);
}

const char* fault_name(Fault fault) {
  switch (fault) {
    case Fault::starts: return "starts";
    case Fault::range: return "range";
    case Fault::order: return "order";
    case Fault::value: return "value";
    default: return "";
  }
}

}  // namespace

void bind_rows(nb::module_& m) {
  nb::class_<Rows>(m, "Rows", "Rows of a matrix, looked at once and then trusted by every pass.")
      .def_static("dense", &dense_rows, nb::arg("X").noconvert(), nb::arg("look") = true, nb::arg("later") = false)
      .def_static("csr", &csr_rows, nb::arg("values").noconvert(), nb::arg("columns").noconvert(), nb::arg("starts").noconvert(),
                  nb::arg("n_features"), nb::arg("look") = true, nb::arg("later") = false)
      .def("look",
           [](Rows& r) {
    if (r.found().fault != Fault::none) return;
    nb::gil_scoped_release nogil;
    r.finding = std::visit([](const auto& x) { return scan_values(x); }, r.any);
  }, "Look at the values of rows that were made with look=False.")
      .def_ro("n_rows", &Rows::n_rows)
      .def_ro("n_features", &Rows::n_features)
      .def_ro("values", &Rows::values, "The stored values; the matrix itself when dense.")
      .def_ro("columns", &Rows::columns, "The column of every stored value, None when dense.")
      .def_ro("starts", &Rows::starts, "Where each row begins among the stored values; nothing when dense.")
      .def_prop_ro("known_fault", [](const Rows& r) { return fault_name(r.finding.fault); })
      .def_prop_ro("fault", [](const Rows& r) {
    return fault_name(r.found().fault);
  }).def_prop_ro("fault_at", [](const Rows& r) { return nb::make_tuple(r.found().row, r.found().column, r.found().value); });
  m.def("linear_scores", &linear_scores, nb::arg("rows"), nb::arg("bias"), nb::arg("weights").noconvert(),
        nb::arg("out").noconvert(),
        "Scores of rows, for weights of shape (n_outputs, n_features + 1), those of the constant last.");
  m.def("set_n_threads", [](int n) {
    require(n > 0, "there must be a thread");
    Threads::most = n;
  }, nb::arg("n"), "The most threads that a loop over rows may use.");
  m.def("all_finite", [](In<double> x) {
    return all_within(x.data(), static_cast<index_t>(x.shape(0)), std::numeric_limits<double>::max());
  }, nb::arg("x"));
}

}  // namespace thresher
