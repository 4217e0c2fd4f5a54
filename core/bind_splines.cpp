// Splines of the columns of dense rows.
#include "splines.hpp"

#include "bind.hpp"

namespace thresher {
namespace {

template <class T> using Table = nb::ndarray<T, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class T>
nb::object features(Table<const T> rows, In<double> knots, In<index_t> starts, In<double> means, Table<T> out) {
  const index_t n_rows = static_cast<index_t>(rows.shape(0)), n_columns = static_cast<index_t>(rows.shape(1));
  require(static_cast<index_t>(starts.shape(0)) == n_columns + 1 && starts.data()[0] == 0 &&
              starts.data()[n_columns] == static_cast<index_t>(knots.shape(0)),
          "starts must cut the knots into columns");
  const ColumnKnots columns{knots.data(), starts.data()};
  index_t width = 0;
  for (index_t j = 0; j < n_columns; ++j) {
    const index_t m = columns.n(j);
    require(m == 0 || m >= 2, "a column must have no knots, or two or more");
    for (index_t k = starts.data()[j]; k + 1 < starts.data()[j + 1]; ++k)
      require(knots.data()[k] < knots.data()[k + 1], "the knots of a column must rise");
    width += columns.width(j);
  }
  require(static_cast<index_t>(means.shape(0)) == width, "there must be a mean for every feature");
  require(static_cast<index_t>(out.shape(0)) == n_rows && static_cast<index_t>(out.shape(1)) == width,
          "out must have room for all features");
  Finding found;
  {
    nb::gil_scoped_release nogil;
    found = spline_features(rows.data(), n_rows, n_columns, columns, means.data(), out.data());
  }
  if (found.fault == Fault::none) return nb::none();
  return nb::make_tuple(found.row, found.column, found.value);
}

template <class T> void bind_features(nb::module_& m) {
  m.def("spline_features", &features<T>, nb::arg("rows").noconvert(), nb::arg("knots"), nb::arg("starts"), nb::arg("means"),
        nb::arg("out").noconvert(),
        "Write the columns of rows and their quadratic splines less their means into out. A value of no sane size is returned as "
        "(row, column, value).");
}

}  // namespace

void bind_splines(nb::module_& m) {
  bind_features<double>(m);
  bind_features<float>(m);
}

}  // namespace thresher
