// Running moments of the columns of rows.
#include "moments.hpp"

#include "bind.hpp"

namespace thresher {
namespace {

using Column = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object add(const Rows& rows, Column n, Column mean, Column m2, Column missing) {
  require(rows.finding.fault == Fault::none, "rows with a fault have no moments");
  for (const Column& column : {n, mean, m2, missing})
    require(static_cast<index_t>(column.shape(0)) >= rows.n_features, "there must be moments for every feature");
  Finding found;
  {
    nb::gil_scoped_release nogil;
    found = std::visit([](const auto& x) { return scan_for_moments(x); }, rows.any);
    if (found.fault == Fault::none)
      std::visit([&](const auto& x) { add_moments(x, {n.data(), mean.data(), m2.data(), missing.data()}); }, rows.any);
  }
  if (found.fault == Fault::none) return nb::none();
  return nb::make_tuple(found.row, found.column, found.value);
}

}  // namespace

void bind_moments(nb::module_& m) {
  m.def("add_moments", &add, nb::arg("rows"), nb::arg("n").noconvert(), nb::arg("mean").noconvert(), nb::arg("m2").noconvert(),
        nb::arg("missing").noconvert(),
        "Add rows to running moments. A value of no sane size is returned as (row, column, value), and nothing is added.");
}

}  // namespace thresher
