// Running moments of the columns of rows.
#include "moments.hpp"

#include <vector>

#include "bind.hpp"
#include "standard_rows.hpp"

namespace thresher {
namespace {

using Column = nb::ndarray<double, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

nb::object add(const Rows& rows, Column n, Column mean, Column m2, Column missing) {
  require(rows.found().fault == Fault::none, "rows with a fault have no moments");
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

void require_places(const Rows& rows, const In<index_t>& part) {
  for (std::size_t i = 0; i < part.shape(0); ++i)
    require(part.data()[i] >= 0 && part.data()[i] < rows.n_rows, "part must name rows that there are");
}

void require_rows(const Rows& rows, const In<index_t>& part) {
  require(rows.found().fault == Fault::none, "rows with a fault have no scale");
  require_places(rows, part);
}

void measure(const Rows& rows, const In<index_t>& part, double n, Column mean, Column m2, Column count) {
  require_rows(rows, part);
  for (const Column& column : {mean, m2, count})
    require(static_cast<index_t>(column.shape(0)) >= rows.n_features, "there must be moments for every feature");
  nb::gil_scoped_release nogil;
  std::vector<double> room(4 * static_cast<std::size_t>(rows.n_features));
  std::visit([&](const auto& x) {
    measure_rows(x, part.data(), static_cast<index_t>(part.shape(0)), {mean.data(), m2.data(), count.data(), n}, room.data());
  }, rows.any);
}

/// Of rows that are checked later, those before the first with a fault, at which the pass that checks them will stop.
void add_lengths(const Rows& rows, const In<index_t>& part, Column sum, Column count) {
  if (rows.unchecked) require_places(rows, part);
  else require_rows(rows, part);
  require(sum.shape(0) == 1 && count.shape(0) == 1, "there must be one sum and one count");
  std::visit([&](const auto& x) {
    const index_t n = static_cast<index_t>(part.shape(0));
    index_t n_sound = 0;
    while (n_sound < n && (!rows.unchecked || rows.unchecked->passes(x, part.data()[n_sound]))) ++n_sound;
    measure_lengths(x, part.data(), n_sound, *sum.data(), *count.data());
  }, rows.any);
}

void scale(const Rows& rows, const In<index_t>& part, const In<double>& shift, const In<double>& inverse, double far, Column out,
           std::optional<Out<std::uint8_t>> is_far) {
  require_rows(rows, part);
  require(!is_far || is_far->shape(0) == part.shape(0), "is_far must have an entry for every row");
  require(static_cast<index_t>(std::min(shift.shape(0), inverse.shape(0))) >= rows.n_features,
          "there must be a scale for every feature");
  require(static_cast<index_t>(out.shape(0)) == static_cast<index_t>(part.shape(0)) * rows.n_features,
          "out must have room for all values");
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) {
    scale_rows(x, part.data(), static_cast<index_t>(part.shape(0)), shift.data(), inverse.data(), far, out.data(),
               is_far ? is_far->data() : nullptr);
  }, rows.any);
}

}  // namespace

void bind_moments(nb::module_& m) {
  m.def("add_moments", &add, nb::arg("rows"), nb::arg("n").noconvert(), nb::arg("mean").noconvert(), nb::arg("m2").noconvert(),
        nb::arg("missing").noconvert(),
        "Add rows to running moments. A value of no sane size is returned as (row, column, value), and nothing is added.");
  m.def("measure_rows", &measure, nb::arg("rows"), nb::arg("part"), nb::arg("n"), nb::arg("mean").noconvert(),
        nb::arg("m2").noconvert(), nb::arg("count").noconvert(),
        "Add some rows to the running mean, squared deviations and number of non-zeros of their columns, known from n rows.");
  m.def("measure_lengths", &add_lengths, nb::arg("rows"), nb::arg("part"), nb::arg("sum").noconvert(),
        nb::arg("count").noconvert(),
        "Add the logarithms of the squared lengths of some rows to a sum, and their number to a count.");
  m.def("scale_rows", &scale, nb::arg("rows"), nb::arg("part"), nb::arg("shift"), nb::arg("inverse"), nb::arg("far"),
        nb::arg("out").noconvert(), nb::arg("is_far").noconvert().none() = nb::none(),
        "Write (x - shift) * inverse of some rows, at most far from 0, into out, row by row, and which of them lay farther.");
}

}  // namespace thresher
