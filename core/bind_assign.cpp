// Rows and the nearest of their centres.
#include "assign.hpp"
#include "prototype.hpp"

#include "bind.hpp"

namespace thresher {
namespace {

using Table = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Centres as a table. Raises an error unless every feature of the rows has a place in it.
Centres checked(const Rows& rows, const Table& table, const In<double>& offsets, const std::optional<In<std::int32_t>>& place,
                const std::optional<In<double>>& middle, int bytes) {
  rows.check();
  const auto n_padded = static_cast<index_t>(table.shape(1)), n_columns = static_cast<index_t>(table.shape(0));
  require(n_padded > 0 && n_padded % kLane == 0 && static_cast<index_t>(offsets.shape(0)) == n_padded,
          "the table must be padded to lanes, with an offset for each centre");
  if (place) {
    require(!rows.columns.is_none(), "dense rows have all their features in the table");
    require(static_cast<index_t>(place->shape(0)) == rows.n_features, "there must be a place for every feature");
    bool inside = true;
    for (std::size_t j = 0; j < place->shape(0); ++j) inside &= place->data()[j] >= -1 && place->data()[j] < n_columns;
    require(inside, "a place must be a row of the table");
  } else {
    require(n_columns == rows.n_features, "the table must have a row for every feature");
  }
  require(!middle || (rows.columns.is_none() && static_cast<index_t>(middle->shape(0)) == rows.n_features),
          "only dense rows have a middle, with a value for every feature");
  return {table.data(), offsets.data(), place ? place->data() : nullptr, middle ? middle->data() : nullptr, n_padded, bytes};
}

void assign(const Rows& rows, index_t begin, index_t end, const Table& table, const In<double>& offsets,
            const std::optional<In<std::int32_t>>& place, const std::optional<In<double>>& middle,
            const std::optional<In<double>>& weight, Out<std::int32_t> labels, const std::optional<Out<double>>& costs,
            const std::optional<Matrix>& sums, const std::optional<Out<double>>& weights, int bytes) {
  const Centres centres = checked(rows, table, offsets, place, middle, bytes);
  require(0 <= begin && begin <= end && end <= rows.n_rows, "begin and end must lie among the rows");
  require(!weight || static_cast<index_t>(weight->shape(0)) == rows.n_rows, "weights and rows differ in length");
  require(static_cast<index_t>(labels.shape(0)) == rows.n_rows &&
              (!costs || static_cast<index_t>(costs->shape(0)) == rows.n_rows),
          "labels, costs and rows differ in length");
  index_t n_centres = centres.n_padded;  // a centre of infinite cost is never the nearest
  while (n_centres > 1 && offsets.data()[n_centres - 1] == std::numeric_limits<double>::infinity()) --n_centres;
  require(sums.has_value() == weights.has_value(), "sums come with weights");
  require(!sums || (static_cast<index_t>(sums->shape(1)) == rows.n_features &&
                    static_cast<index_t>(sums->shape(0)) >= n_centres && weights->shape(0) == sums->shape(0)),
          "there must be a sum for every centre and feature");
  const Sums into{sums ? sums->data() : nullptr, weights ? weights->data() : nullptr};
  const Assigned to{weight ? weight->data() : nullptr, labels.data(), costs ? costs->data() : nullptr, sums ? &into : nullptr};
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) { run_assign(x, begin, end, centres, to); }, rows.any);
}

void centre_costs(const Rows& rows, index_t begin, const Table& table, const In<double>& offsets,
                  const std::optional<In<std::int32_t>>& place, const std::optional<In<double>>& middle, const Matrix& out) {
  const Centres centres = checked(rows, table, offsets, place, middle, 64);
  const index_t end = begin + static_cast<index_t>(out.shape(0));
  require(0 <= begin && end <= rows.n_rows && static_cast<index_t>(out.shape(1)) == centres.n_padded,
          "out must have a place for some of the rows and each centre");
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) { run_costs(x, begin, end, centres, out.data()); }, rows.any);
}

void learn_prototype(const Rows& rows, const In<index_t>& order, Out<double> w, double alpha, double eta0, double smoothing,
                     bool hinge) {
  rows.check();
  check_order(order.data(), static_cast<index_t>(order.shape(0)), rows.n_rows);
  require(static_cast<index_t>(w.shape(0)) == rows.n_features, "there must be a weight for every feature");
  require(alpha >= 0 && eta0 > 0 && smoothing > 0, "alpha must not be negative, eta0 and smoothing must be above 0");
  Prototype prototype(w.data(), rows.n_features, alpha, eta0, smoothing, hinge);
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) { run_prototype(x, order.data(), static_cast<index_t>(order.shape(0)), prototype); }, rows.any);
}

}  // namespace

void bind_assign(nb::module_& m) {
  m.def(
      "assign", &assign, nb::arg("rows"), nb::arg("begin"), nb::arg("end"), nb::arg("table").noconvert(),
      nb::arg("offsets").noconvert(), nb::arg("place").noconvert().none(), nb::arg("middle").noconvert().none(),
      nb::arg("weight").noconvert().none(), nb::arg("labels").noconvert(), nb::arg("costs").noconvert().none(),
      nb::arg("sums").noconvert().none() = nb::none(), nb::arg("weights").noconvert().none() = nb::none(), nb::arg("bytes") = 64,
      "For rows begin ... end, the centre where each costs least, that cost without the square of the row, and sums of the rows of each centre.");
  m.def("centre_costs", &centre_costs, nb::arg("rows"), nb::arg("begin"), nb::arg("table").noconvert(),
        nb::arg("offsets").noconvert(), nb::arg("place").noconvert().none(), nb::arg("middle").noconvert().none(),
        nb::arg("out").noconvert(), "The costs of rows from begin on at every centre, without the squares of the rows.");
  m.def("learn_prototype", &learn_prototype, nb::arg("rows"), nb::arg("order").noconvert(), nb::arg("w").noconvert(),
        nb::arg("alpha"), nb::arg("eta0"), nb::arg("smoothing"), nb::arg("hinge"),
        "A sparse stand-in for rows that are drawn in this order, by adaptive dual averaging from w on.");
}

}  // namespace thresher
