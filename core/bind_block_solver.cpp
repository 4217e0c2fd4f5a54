// The solver of penalties on blocks of weights.
#include <nanobind/stl/vector.h>

#include "bind.hpp"
#include "block_solver.hpp"

namespace thresher {
namespace {

/// The solver and the arrays that it reads. Columns are the rows of the transposed matrix, and are checked as all rows are.
struct PyBlockSolver {
  std::vector<nb::object> columns;
  std::vector<In<double>> y, share;
  In<index_t> starts, column;
  In<std::int32_t> task;
  std::unique_ptr<LossSweep> loss;
  Blocks blocks;
  std::unique_ptr<AnyBlockSolver> solver;

  PyBlockSolver(std::vector<nb::object> columns_of, std::vector<In<double>> targets, std::vector<In<double>> shares,
                const std::string& loss_name, double epsilon, bool fit_intercept, In<index_t> block_starts,
                In<std::int32_t> task_of, In<index_t> column_of)
      : columns(std::move(columns_of)), y(std::move(targets)), share(std::move(shares)), starts(std::move(block_starts)),
        column(std::move(column_of)), task(std::move(task_of)), loss(make_loss_sweep(loss_name, epsilon)) {
    const std::size_t n_tasks = columns.size();
    require(n_tasks > 0 && y.size() == n_tasks && share.size() == n_tasks, "every task must have columns, targets and shares");
    std::vector<const Rows*> rows;
    for (std::size_t q = 0; q < n_tasks; ++q) {
      rows.push_back(&nb::cast<const Rows&>(columns[q]));
      rows[q]->check();
      require(rows[q]->any.index() == rows[0]->any.index(), "columns of all tasks must be stored in one way");
      require(static_cast<index_t>(y[q].shape(0)) == rows[q]->n_features && y[q].shape(0) == share[q].shape(0),
              "targets, shares and columns differ in length");
    }
    require(starts.shape(0) > 1 && task.shape(0) == column.shape(0), "there must be blocks");
    const auto n_blocks = static_cast<index_t>(starts.shape(0)) - 1;
    blocks = {starts.data(), task.data(), column.data(), n_blocks, static_cast<index_t>(n_tasks), false};
    check(rows, static_cast<index_t>(column.shape(0)));
    std::visit([&](const auto& first) {
      using Columns = std::decay_t<decltype(first)>;
      std::vector<std::pair<const Columns*, Targets>> given;
      given.reserve(n_tasks);
      for (std::size_t q = 0; q < n_tasks; ++q)
        given.push_back({&std::get<Columns>(rows[q]->any), Targets{y[q].data(), share[q].data(), rows[q]->n_features}});
      solver = std::make_unique<BlockSolver<Columns>>(blocks, given, *loss, fit_intercept);
    }, rows[0]->any);
  }

 private:
  /// Checks that members are existing columns, and that those of a block belong all to one task, or each to a different one.
  void check(const std::vector<const Rows*>& rows, index_t n_members) {
    require(blocks.starts[0] == 0 && blocks.starts[blocks.n_blocks] == n_members, "blocks must cover their members");
    bool within = false;
    std::vector<index_t> seen(rows.size(), -1);
    for (index_t b = 0; b < blocks.n_blocks; ++b) {
      require(blocks.starts[b] < blocks.starts[b + 1] && blocks.starts[b + 1] <= n_members, "a block must have members");
      for (index_t a = blocks.starts[b]; a < blocks.starts[b + 1]; ++a) {
        require(blocks.task[a] >= 0 && blocks.task[a] < blocks.n_tasks, "a member names a task that is not there");
        require(blocks.column[a] >= 0 && blocks.column[a] < rows[blocks.task[a]]->n_rows,
                "a member names a column that is not there");
        (seen[blocks.task[a]] == b ? within : blocks.across) |= blocks.size(b) > 1 && a > blocks.starts[b];
        seen[blocks.task[a]] = b;
      }
    }
    require(!(within && blocks.across), "members of a block must be of one task, or each of another");
  }
};

BlockPenalty checked(const PyBlockSolver& self, const In<double>& weight, double norm, double l1, double l2) {
  require(static_cast<index_t>(weight.shape(0)) == self.blocks.n_blocks, "there must be a weight for every block");
  for (std::size_t b = 0; b < weight.shape(0); ++b) require(weight.data()[b] > 0, "weights of blocks must be above 0");
  require(norm > 1 && l1 >= 0 && l2 >= 0, "the norm must be above 1, l1 and l2 must not be negative");
  return {weight.data(), l1, l2, norm};
}

nb::tuple solve(PyBlockSolver& self, In<double> weight, double norm, double l1, double l2, Out<double> w, Out<double> c,
                double tol, index_t max_iter) {
  require(static_cast<index_t>(w.shape(0)) == self.blocks.n_weights() && static_cast<index_t>(c.shape(0)) == self.blocks.n_tasks,
          "there must be a place for every member and every task");
  const BlockPenalty penalty = checked(self, weight, norm, l1, l2);
  BlockResult found{};
  {
    nb::gil_scoped_release nogil;
    found = self.solver->solve(penalty, w.data(), c.data(), tol, max_iter);
  }
  return nb::make_tuple(found.objective, found.gap, found.n_iter);
}

double largest(PyBlockSolver& self, In<double> weight, double norm, double l1) {
  const BlockPenalty penalty = checked(self, weight, norm, l1, 0);
  nb::gil_scoped_release nogil;
  return self.solver->largest(penalty);
}

}  // namespace

void bind_block_solver(nb::module_& m) {
  nb::class_<PyBlockSolver>(m, "BlockSolver",
                            "Linear models with penalties on blocks of weights; columns are rows of the transposed matrix.")
      .def(nb::init<std::vector<nb::object>, std::vector<In<double>>, std::vector<In<double>>, const std::string&, double, bool,
                    In<index_t>, In<std::int32_t>, In<index_t>>(),
           nb::arg("columns"), nb::arg("y"), nb::arg("share"), nb::arg("loss"), nb::arg("epsilon"), nb::arg("fit_intercept"),
           nb::arg("starts").noconvert(), nb::arg("task").noconvert(), nb::arg("column").noconvert())
      .def("solve", &solve, nb::arg("weight"), nb::arg("norm"), nb::arg("l1"), nb::arg("l2"), nb::arg("w").noconvert(),
           nb::arg("c").noconvert(), nb::arg("tol"), nb::arg("max_iter"),
           "Changes w and c in place; the objective, its gap, and the number of passes.")
      .def("largest", &largest, nb::arg("weight"), nb::arg("norm"), nb::arg("l1"),
           "How many times the penalty must count to set all weights to 0.");
}

}  // namespace thresher
