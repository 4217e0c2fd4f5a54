// Batch solvers in the dual.
#include "sdca.hpp"
#include "threads.hpp"

#include "bind.hpp"
#include "bind_arrays.hpp"

namespace thresher {
namespace {

/// Runs `act` on the problem that the arguments describe, without the GIL.
template <class Act>
void on_problem(const Rows& rows, double bias, const In<double>& y, double positive, const In<double>& share, Out<double>& b,
                Out<double>& v, double l1, double l2, const std::string& loss_name, const index_t* order, Act act) {
  rows.check();
  const auto n_rows = static_cast<std::size_t>(rows.n_rows);
  require(y.shape(0) == n_rows && share.shape(0) == n_rows && b.shape(0) == n_rows, "y, share, b and the rows differ in length");
  require(v.shape(0) == static_cast<std::size_t>(rows.n_features) + 1, "v must have one entry per weight");
  require(l2 > 0, "l2 must be above 0");
  const auto step = make_dual_step(loss_name);
  const auto loss = make_loss(loss_name, 0, 0);
  Sdca problem{b.data(), v.data(), share.data(), l1, l2, *step, *loss};
  const Lesson lesson{y.data(), nullptr, order, 0, rows.n_rows, true, positive};
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) { act(problem, x, bias, lesson); }, rows.any);
}

nb::object row_squares(const Rows& rows, double bias, const std::optional<In<double>>& middle) {
  rows.check();
  require(!middle || (rows.columns.is_none() && static_cast<index_t>(middle->shape(0)) == rows.n_features),
          "only dense rows have a middle, with a value for every feature");
  require(!middle || bias == 0, "the constant feature has no middle");
  const double* const from = middle ? middle->data() : nullptr;
  Growing<double> squares;
  double* const out = squares.room(static_cast<std::size_t>(rows.n_rows));
  std::visit([&](const auto& x) {
    in_parts(x.n_rows, x.n_values(), [&](index_t begin, index_t end) {
      for (index_t i = begin; i < end; ++i) {
        const auto row = x.row(i, bias);
        out[i] = !from ? row.square() : row.sum([from](index_t j, double xj) { return (xj - from[j]) * (xj - from[j]); });
      }
    });
  }, rows.any);
  squares.commit(static_cast<std::size_t>(rows.n_rows));
  return array(squares);
}

}  // namespace

void bind_sdca(nb::module_& m) {
  m.def("row_squares", &row_squares, nb::arg("rows"), nb::arg("bias"), nb::arg("middle").noconvert().none() = nb::none(),
        "The sum of the squares of each row, of a dense one less the middle.");
  m.def("sdca_epoch",
        [](const Rows& rows, double bias, In<double> y, double positive, In<double> share, In<index_t> order, Out<double> b,
           Out<double> v, double l1, double l2, const std::string& loss) {
    require(static_cast<index_t>(order.shape(0)) == rows.n_rows, "order must name every row");
    for (index_t t = 0; t < rows.n_rows; ++t)
      require(order.data()[t] >= 0 && order.data()[t] < rows.n_rows, "the order names a row that is not there");
    on_problem(rows, bias, y, positive, share, b, v, l1, l2, loss, order.data(),
               [](Sdca& problem, const auto& x, double constant, const Lesson& lesson) { problem.epoch(x, constant, lesson); });
  },
        nb::arg("rows"), nb::arg("bias"), nb::arg("y"), nb::arg("positive"), nb::arg("share"), nb::arg("order"),
        nb::arg("b").noconvert(), nb::arg("v").noconvert(), nb::arg("l1"), nb::arg("l2"), nb::arg("loss"),
        "One dual step for each row; b and v change in place.");
  m.def("sdca_bounds",
        [](const Rows& rows, double bias, In<double> y, double positive, In<double> share, Out<double> b, Out<double> v,
           In<double> w, double l1, double l2, const std::string& loss) {
    require(w.shape(0) == v.shape(0), "w must have one entry per weight");
    Sdca::Bounds found{};
    on_problem(rows, bias, y, positive, share, b, v, l1, l2, loss, nullptr,
               [&](Sdca& problem, const auto& x, double constant, const Lesson& lesson) {
      found = problem.bounds(x, constant, lesson, w.data());
    });
    return nb::make_tuple(found.primal, found.dual);
  },
        nb::arg("rows"), nb::arg("bias"), nb::arg("y"), nb::arg("positive"), nb::arg("share"), nb::arg("b").noconvert(),
        nb::arg("v").noconvert(), nb::arg("w"), nb::arg("l1"), nb::arg("l2"), nb::arg("loss"),
        "The primal objective of w and the dual one of b, between which the optimum lies; v is made anew from b.");
}

}  // namespace thresher
