// Groups of weights, checked when they are made.
#include "bind.hpp"
#include "bind_arrays.hpp"
#include "groups.hpp"

namespace thresher {
namespace {

template <class T>
nb::object lent(nb::handle owner, const std::vector<T>& numbers) {
  return nb::cast(nb::ndarray<nb::numpy, const T, nb::ndim<1>>(numbers.data(), {numbers.size()}, owner));
}

/// The groups that hold any of these columns, with repeats.
template <class Column>
nb::object touched(const Groups& groups, const In<Column>& columns) {
  Growing<index_t> found;
  const auto keep = [&](index_t g, index_t) { found.push(g); };
  for (std::size_t k = 0; k < columns.size(); ++k) {
    require(columns.data()[k] >= 0, "columns must not be negative");
    if (groups.overlapping) Cover{groups}.each(columns.data()[k], keep);
    else Partition{groups}.each(columns.data()[k], keep);
  }
  return array(found);
}

}  // namespace

void bind_groups(nb::module_& m) {
  nb::class_<Groups>(m, "Groups", "Groups of columns: group g holds members[starts[g]:starts[g + 1]].")
      .def("__init__",
           [](Groups* self, const In<index_t>& starts, const In<std::int32_t>& members, index_t n_features) {
    new (self)
        Groups({starts.data(), starts.data() + starts.size()}, {members.data(), members.data() + members.size()}, n_features);
  }, nb::arg("starts"), nb::arg("members"), nb::arg("n_features"))
      .def_prop_ro("overlapping", [](const Groups& g) { return g.overlapping; })
      .def_prop_ro("n_covered", &Groups::n_covered)
      .def_prop_ro("starts", [](nb::handle_t<Groups> self) { return lent(self, nb::cast<const Groups&>(self).starts); })
      .def_prop_ro("members", [](nb::handle_t<Groups> self) { return lent(self, nb::cast<const Groups&>(self).members); })
      .def("touched", &touched<std::int32_t>, nb::arg("columns").noconvert())
      .def("touched", &touched<index_t>, nb::arg("columns").noconvert());
}

}  // namespace thresher
