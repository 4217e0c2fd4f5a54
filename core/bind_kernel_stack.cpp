// Square matrices in a stack.
#include "kernel_stack.hpp"

#include "bind.hpp"

namespace thresher {
namespace {

template <class Value> using Any = nb::ndarray<const Value, nb::ndim<2>, nb::device::cpu>;

/// Calls back with the matrix in its precision.
template <class F>
auto with_matrix(const nb::object& given, F f) {
  const auto strided = [](const auto& of) {
    using Value = std::remove_const_t<std::remove_pointer_t<decltype(of.data())>>;
    return Strided<Value>{of.data(), static_cast<index_t>(of.shape(0)), static_cast<index_t>(of.shape(1)), of.stride(0),
                          of.stride(1)};
  };
  Any<double> in_double;
  if (nb::try_cast(given, in_double, false)) return f(strided(in_double));
  Any<float> in_single;
  require(nb::try_cast(given, in_single, false), "a matrix must hold floating point numbers");
  return f(strided(in_single));
}

void require_inside(const In<index_t>& places, index_t n) {
  for (std::size_t k = 0; k < places.shape(0); ++k)
    require(0 <= places.data()[k] && places.data()[k] < n, "places must lie inside the matrix");
}

nb::tuple look_at(const nb::object& matrix) {
  return with_matrix(matrix, [](const auto& m) {
    require(m.n_rows == m.n_columns, "the matrix must be square");
    SquareLook found;
    {
      nb::gil_scoped_release nogil;
      found = look_at_square(m);
    }
    return nb::make_tuple(found.most, found.same, found.least);
  });
}

bool nearly(const nb::object& matrix, double atol, double rtol) {
  return with_matrix(matrix, [&](const auto& m) {
    require(m.n_rows == m.n_columns, "the matrix must be square");
    nb::gil_scoped_release nogil;
    return nearly_symmetric(m, atol, rtol);
  });
}

void half(const nb::object& matrix, const In<index_t>& places, double factor, bool same, Out<double> out) {
  with_matrix(matrix, [&](const auto& m) {
    const auto n = static_cast<index_t>(places.shape(0));
    require(m.n_rows == m.n_columns, "the matrix must be square");
    require_inside(places, m.n_rows);
    require(static_cast<index_t>(out.shape(0)) == n * (n + 1) / 2, "out must have room for the lower half");
    nb::gil_scoped_release nogil;
    take_half(m, places.data(), n, factor, same, out.data());
  });
}

void block(const nb::object& matrix, const In<index_t>& rows, const In<index_t>& columns,
           nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
  with_matrix(matrix, [&](const auto& m) {
    require_inside(rows, m.n_rows);
    require_inside(columns, m.n_columns);
    require(out.shape(0) == rows.shape(0) && out.shape(1) == columns.shape(0), "out must have room for the block");
    nb::gil_scoped_release nogil;
    take_block(m, rows.data(), static_cast<index_t>(rows.shape(0)), columns.data(), static_cast<index_t>(columns.shape(0)),
               out.data());
  });
}

}  // namespace

void bind_kernel_stack(nb::module_& m) {
  m.def("look_at_square", &look_at, nb::arg("matrix"),
        "The largest size of an entry (NaN where one is), whether the matrix is its transpose, and the least diagonal entry.");
  m.def("nearly_symmetric", &nearly, nb::arg("matrix"), nb::arg("atol"), nb::arg("rtol"),
        "Whether a matrix is its transpose but for rounding.");
  m.def(
      "take_half", &half, nb::arg("matrix"), nb::arg("places"), nb::arg("factor"), nb::arg("same"), nb::arg("out").noconvert(),
      "Writes the lower half of the matrix between some rows, times a factor; the mean of both halves unless they are the same.");
  m.def("take_block", &block, nb::arg("matrix"), nb::arg("rows"), nb::arg("columns"), nb::arg("out").noconvert(),
        "Writes the matrix between some rows and some columns.");
}

}  // namespace thresher
