// Quadratic programs with box constraints, for kernel methods.
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "box_descent.hpp"
#include "box_qp.hpp"

namespace thresher {
namespace {

using Blocks = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;
using Start = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Computes a row of the kernel matrix in Python, with the GIL.
struct FromPython {
  nb::object make;
  index_t n;
  void operator()(index_t i, double* out) const {
    nb::gil_scoped_acquire gil;
    In<double> row;
    require(nb::try_cast(make(i), row, false) && static_cast<index_t>(row.shape(0)) == n,
            "a row of the kernel matrix must be float64, with an entry for every row");
    std::copy_n(row.data(), n, out);
  }
};

/// The solver and the arrays that it reads.
struct PyBoxQP {
  std::vector<nb::object> kept;
  std::unique_ptr<KernelRows> rows;
  std::unique_ptr<BoxQP> solver;

  PyBoxQP(nb::object matrix, index_t room, In<double> diagonal, Blocks linear, Blocks lower, Blocks upper, Blocks epsilon,
          Blocks sign, In<double> total, Blocks coupling, Start x) {
    const std::size_t m = x.shape(0), n = x.shape(1);
    require(m > 0 && n > 0, "there must be variables");
    for (const Blocks& each : {linear, lower, upper, epsilon, sign})
      require(each.shape(0) == m && each.shape(1) == n, "everything about variables must have the shape of x");
    require(total.shape(0) == m && coupling.shape(0) == m && coupling.shape(1) == m, "total and coupling must fit the blocks");
    require(diagonal.shape(0) == n, "the diagonal must fit the variables");
    for (std::size_t a = 0; a < m * n; ++a)
      require(lower.data()[a] <= upper.data()[a] && epsilon.data()[a] >= 0 && std::fabs(sign.data()[a]) == 1,
              "lower must not exceed upper, epsilon must not be negative, signs must be 1 or -1");
    const auto size = static_cast<index_t>(n);
    if (nb::isinstance<nb::ndarray<>>(matrix)) {
      Blocks whole;
      require(nb::try_cast(matrix, whole, false) && whole.shape(0) == n && whole.shape(1) == n,
              "the kernel matrix must be square float64 in one piece");
      rows = std::make_unique<WholeMatrix>(whole.data(), size);
    } else {
      rows = std::make_unique<RecentRows<FromPython>>(size, static_cast<std::size_t>(room), FromPython{matrix, size});
    }
    kept = {matrix,         diagonal.cast(), linear.cast(), lower.cast(),    upper.cast(),
            epsilon.cast(), sign.cast(),     total.cast(),  coupling.cast(), x.cast()};
    const BoxProblem problem{size,           static_cast<index_t>(m), linear.data(), lower.data(),
                             upper.data(),   epsilon.data(),          sign.data(),   total.data(),
                             coupling.data()};
    nb::gil_scoped_release nogil;
    solver = std::make_unique<BoxQP>(*rows, static_cast<std::size_t>(room), diagonal.data(), problem, x.data());
  }
};

void descend(const Rows& rows, double bias, In<double> squares, In<double> linear, In<double> lower, In<double> upper,
             In<double> epsilon, In<index_t> order, Out<double> x, Out<double> w, Out<double> slack) {
  rows.check();
  for (const std::size_t length :
       {squares.shape(0), linear.shape(0), lower.shape(0), upper.shape(0), epsilon.shape(0), x.shape(0), slack.shape(0)})
    require(static_cast<index_t>(length) == rows.n_rows, "everything about variables must have an entry for every row");
  require(static_cast<index_t>(w.shape(0)) == rows.n_features + 1, "w must have one entry per weight");
  check_order(order.data(), static_cast<index_t>(order.shape(0)), rows.n_rows);
  for (index_t i = 0; i < rows.n_rows; ++i) require(squares.data()[i] > 0, "squares must be above 0");
  BoxDescent descent{squares.data(), linear.data(), lower.data(), upper.data(), epsilon.data(), x.data(), w.data(), slack.data()};
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& some) { descent.pass(some, bias, order.data(), static_cast<index_t>(order.shape(0))); }, rows.any);
}

/// Objective, gap and multiplier of a problem of one block whose scores are known.
nb::tuple certify(In<double> scores, In<double> linear, In<double> lower, In<double> upper, In<double> epsilon, double total,
                  In<double> x) {
  const std::size_t n = x.shape(0);
  for (const std::size_t length : {scores.shape(0), linear.shape(0), lower.shape(0), upper.shape(0), epsilon.shape(0)})
    require(length == n, "everything about variables must have an entry for every row");
  const std::vector<double> ahead(n, 1.0);
  const double one = 1;
  const BoxProblem problem{
      static_cast<index_t>(n), 1, linear.data(), lower.data(), upper.data(), epsilon.data(), ahead.data(), &total, &one};
  std::vector<double> rates(n);
  for (std::size_t a = 0; a < n; ++a) rates[a] = scores.data()[a] - linear.data()[a];
  const Bound bound = certified(problem, x.data(), rates.data(), scores.data());
  return nb::make_tuple(bound.objective, bound.gap, bound.multiplier[0]);
}

}  // namespace

void bind_box_qp(nb::module_& m) {
  m.def("box_descend", &descend, nb::arg("rows"), nb::arg("bias"), nb::arg("squares"), nb::arg("linear"), nb::arg("lower"),
        nb::arg("upper"), nb::arg("epsilon"), nb::arg("order"), nb::arg("x").noconvert(), nb::arg("w").noconvert(),
        nb::arg("slack").noconvert(), "Minimises over one x after the other; w and slack follow.");
  m.def("box_certify", &certify, nb::arg("scores"), nb::arg("linear"), nb::arg("lower"), nb::arg("upper"), nb::arg("epsilon"),
        nb::arg("total"), nb::arg("x"), "Objective, gap and multiplier at x, whose scores are given.");
  nb::class_<PyBoxQP>(m, "BoxQP", "A kernel problem in boxes, solved pair by pair; x changes in place.")
      .def(nb::init<nb::object, index_t, In<double>, Blocks, Blocks, Blocks, Blocks, Blocks, In<double>, Blocks, Start>(),
           nb::arg("matrix"), nb::arg("room"), nb::arg("diagonal").noconvert(), nb::arg("linear").noconvert(),
           nb::arg("lower").noconvert(), nb::arg("upper").noconvert(), nb::arg("epsilon").noconvert(),
           nb::arg("sign").noconvert(), nb::arg("total").noconvert(), nb::arg("coupling").noconvert(), nb::arg("x").noconvert())
      .def("run",
           [](PyBoxQP& self, index_t n_steps, double tol) {
    nb::gil_scoped_release nogil;
    return self.solver->run(n_steps, tol);
  }, nb::arg("n_steps"), nb::arg("tol"), "Goes on for so many steps; True when the gap is at most tol of the objective.")
      .def("conclude",
           [](PyBoxQP& self) {
    nb::gil_scoped_release nogil;
    self.solver->conclude();
  }, "Makes scores, objective and gap anew from x.")
      .def("read", [](const PyBoxQP& self, Out<double> scores, Out<double> multiplier) {
    const Bound& bound = self.solver->bound;
    require(scores.shape(0) == self.solver->size() && multiplier.shape(0) == bound.multiplier.size(), "outputs must fit");
    std::copy_n(self.solver->all_scores(), scores.shape(0), scores.data());
    std::copy(bound.multiplier.begin(), bound.multiplier.end(), multiplier.data());
    return std::tuple(bound.objective, bound.gap, self.solver->n_steps);
  }, nb::arg("scores").noconvert(), nb::arg("multiplier").noconvert(), "Objective, gap and number of steps.");
}

}  // namespace thresher
