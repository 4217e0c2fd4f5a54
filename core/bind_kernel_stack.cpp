// Square matrices in a stack.
#include "bind.hpp"
#include "stack_look.hpp"

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

template <class Value> using AnyStack = nb::ndarray<const Value, nb::ndim<3>, nb::device::cpu>;
template <class Value> using Packed = nb::ndarray<const Value, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Lower = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Square = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

template <class Value>
void look_at(const AnyStack<Value>& stack, Out<double> most, Out<bool> same, Square diagonals, Out<double> factors, Square sum) {
  const auto n_matrices = static_cast<index_t>(stack.shape(0)), n = static_cast<index_t>(stack.shape(1));
  require(stack.shape(2) == stack.shape(1), "the matrices must be square");
  require(most.shape(0) == stack.shape(0) && same.shape(0) == stack.shape(0) && factors.shape(0) == stack.shape(0) &&
              diagonals.shape(0) == stack.shape(0) && diagonals.shape(1) == stack.shape(1) && sum.shape(0) == stack.shape(1) &&
              sum.shape(1) == stack.shape(1),
          "outputs must fit the matrices");
  nb::gil_scoped_release nogil;
  StackLook<Value> look(most.data(), diagonals.data(), factors.data(), sum.data(), same.data());
  look.take({stack.data(), n, n, stack.stride(1), stack.stride(2)}, n_matrices, stack.stride(0));
}

/// Of matrices that are symmetric, whole ones or packed halves.
template <class Given>
HalfRows half_rows(const Given& matrices, index_t n) {
  const bool whole = matrices.ndim() == 3;
  const auto size = static_cast<index_t>(matrices.shape(1));
  if (whole)
    require(size == n && static_cast<index_t>(matrices.shape(2)) == n && matrices.stride(2) == 1,
            "matrices must be square, with rows in one piece");
  else require(size == n * (n + 1) / 2, "halves must be those of square matrices");
  return {n, whole ? static_cast<index_t>(matrices.stride(1)) : 0};
}

/// Of matrices that are symmetric, whole ones or packed halves.
template <class Given>
void add(const Given& matrices, const In<double>& weights, const In<index_t>& rows, Square sum) {
  const auto n = static_cast<index_t>(sum.shape(0));
  const HalfRows from = half_rows(matrices, n);
  require(weights.shape(0) == matrices.shape(0) && sum.shape(1) == sum.shape(0), "there must be a weight for each matrix");
  require_inside(rows, n);
  std::vector<Piece> pieces;
  for (std::size_t a = 0; a < rows.shape(0); ++a) {
    const index_t i = rows.data()[a];
    pieces.push_back({from.begin(i), i + 1, i * n});
  }
  nb::gil_scoped_release nogil;
  add_pieces(matrices.data(), static_cast<index_t>(matrices.shape(0)), static_cast<index_t>(matrices.stride(0)), weights.data(),
             pieces, sum.data());
}

/// Of some symmetric matrices, whole ones or packed halves.
template <class Given>
void energies_of(const Given& matrices, const In<double>& x, const In<index_t>& some, Out<double> out) {
  const HalfRows rows = half_rows(matrices, static_cast<index_t>(x.shape(0)));
  require(out.shape(0) == some.shape(0), "there must be room for an energy of each matrix");
  require_inside(some, static_cast<index_t>(matrices.shape(0)));
  nb::gil_scoped_release nogil;
  energies(matrices.data(), static_cast<index_t>(matrices.stride(0)), rows, x.data(), some.data(),
           static_cast<index_t>(some.shape(0)), out.data());
}

void mirror(const Lower& lower, double factor, Square matrix) {
  const auto n = static_cast<index_t>(matrix.shape(0));
  require(matrix.shape(1) == matrix.shape(0) && lower.shape(0) == matrix.shape(0) && lower.shape(1) == matrix.shape(0),
          "both matrices must be square, and of one size");
  nb::gil_scoped_release nogil;
  mirrored(lower.data(), n, factor, matrix.data());
}

bool nearly(const nb::object& matrix, double atol, double rtol) {
  return with_matrix(matrix, [&](const auto& m) {
    require(m.n_rows == m.n_columns, "the matrix must be square");
    nb::gil_scoped_release nogil;
    return nearly_symmetric(m, atol, rtol);
  });
}

void half(const nb::object& matrix, const In<index_t>& places, bool same, Out<double> out) {
  with_matrix(matrix, [&](const auto& m) {
    const auto n = static_cast<index_t>(places.shape(0));
    require(m.n_rows == m.n_columns, "the matrix must be square");
    require_inside(places, m.n_rows);
    require(static_cast<index_t>(out.shape(0)) == n * (n + 1) / 2, "out must have room for the lower half");
    nb::gil_scoped_release nogil;
    take_half(m, places.data(), n, same, out.data());
  });
}

template <class Value>
void blocks(const AnyStack<Value>& stack, const In<double>& weights, const In<index_t>& rows, const In<index_t>& columns,
            nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu> out) {
  const auto n_rows = static_cast<index_t>(stack.shape(1)), n_columns = static_cast<index_t>(stack.shape(2));
  require(weights.shape(0) == stack.shape(0), "there must be a weight for each matrix");
  require_inside(rows, n_rows);
  require_inside(columns, n_columns);
  require(out.shape(0) == rows.shape(0) && out.shape(1) == columns.shape(0), "out must have room for the block");
  nb::gil_scoped_release nogil;
  for (std::size_t q = 0; q < stack.shape(0); ++q)
    if (weights.data()[q] != 0)
      add_block(Strided<Value>{stack.data() + static_cast<index_t>(q) * stack.stride(0), n_rows, n_columns, stack.stride(1),
                               stack.stride(2)},
                weights.data()[q], rows.data(), static_cast<index_t>(rows.shape(0)), columns.data(),
                static_cast<index_t>(columns.shape(0)), out.data());
}

}  // namespace

void bind_kernel_stack(nb::module_& m) {
  constexpr auto looks =
      "Writes the largest size of an entry (NaN where one is), whether a matrix is its transpose, its diagonal and 1 over its "
      "trace; adds the lower half of the sum of all matrices times that.";
  m.def("look_at_squares", &look_at<double>, nb::arg("stack").noconvert(), nb::arg("most").noconvert(),
        nb::arg("same").noconvert(), nb::arg("diagonals").noconvert(), nb::arg("factors").noconvert(), nb::arg("sum").noconvert(),
        looks);
  m.def("look_at_squares", &look_at<float>, nb::arg("stack").noconvert(), nb::arg("most").noconvert(),
        nb::arg("same").noconvert(), nb::arg("diagonals").noconvert(), nb::arg("factors").noconvert(), nb::arg("sum").noconvert(),
        looks);
  const auto of_halves = [&m](auto add_function, auto energy_function) {
    m.def("add_halves", add_function, nb::arg("matrices").noconvert(), nb::arg("weights"), nb::arg("rows"),
          nb::arg("sum").noconvert(),
          "Adds symmetric matrices times their weights to the lower half of one, in some rows; whole matrices or packed halves.");
    m.def("half_energies", energy_function, nb::arg("matrices").noconvert(), nb::arg("x"), nb::arg("some"),
          nb::arg("out").noconvert(), "Writes <x, K x> / 2 for some symmetric matrices K, whole ones or packed halves.");
  };
  of_halves(&add<Packed<double>>, &energies_of<Packed<double>>);
  of_halves(&add<AnyStack<double>>, &energies_of<AnyStack<double>>);
  of_halves(&add<AnyStack<float>>, &energies_of<AnyStack<float>>);
  m.def("mirrored", &mirror, nb::arg("lower"), nb::arg("factor"), nb::arg("matrix").noconvert(),
        "Writes the symmetric matrix with this lower half, times a factor; both may be the same.");
  m.def("nearly_symmetric", &nearly, nb::arg("matrix"), nb::arg("atol"), nb::arg("rtol"),
        "Whether a matrix is its transpose but for rounding.");
  m.def("take_half", &half, nb::arg("matrix"), nb::arg("places"), nb::arg("same"), nb::arg("out").noconvert(),
        "Writes the lower half of the matrix between some rows; the mean of both halves unless they are the same.");
  constexpr auto adds = "Adds matrices between some rows and some columns, times their weights.";
  m.def("add_blocks", &blocks<double>, nb::arg("stack").noconvert(), nb::arg("weights"), nb::arg("rows"), nb::arg("columns"),
        nb::arg("out").noconvert(), adds);
  m.def("add_blocks", &blocks<float>, nb::arg("stack").noconvert(), nb::arg("weights"), nb::arg("rows"), nb::arg("columns"),
        nb::arg("out").noconvert(), adds);
}

}  // namespace thresher
