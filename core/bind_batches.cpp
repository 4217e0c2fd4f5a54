// Operations on rows for learners that take a whole batch at a time.
#include <limits>

#include "bind.hpp"
#include "bind_arrays.hpp"
#include "box_ascent.hpp"
#include "column_search.hpp"
#include "columns.hpp"
#include "group_ascent.hpp"

namespace thresher {
namespace {

using ReadMatrix = nb::ndarray<const double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

void require_columns(const Rows& rows, const In<index_t>& columns) {
  bool inside = true;
  for (std::size_t k = 0; k < columns.shape(0); ++k) inside &= columns.data()[k] >= 0 && columns.data()[k] <= rows.n_features;
  require(inside, "columns must be those of the rows, or the constant");
}

void take(const Rows& rows, double bias, In<index_t> columns, Matrix out) {
  rows.check();
  const auto n = static_cast<index_t>(columns.shape(0));
  require(static_cast<index_t>(out.shape(0)) == rows.n_rows && static_cast<index_t>(out.shape(1)) == n,
          "out must have a place for every row and column");
  require_columns(rows, columns);
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) { take_columns(x, bias, columns.data(), n, out.data()); }, rows.any);
}

/// Selects columns of sparse rows. Dense rows raise an error.
struct Taken {
  double bias;
  const In<index_t>& columns;

  template <class Value>
  Rows operator()(const DenseRows<Value>&) const {
    throw std::invalid_argument("only sparse rows have columns that are taken as sparse rows");
  }
  template <class Value, class Column>
  Rows operator()(const CsrRows<Value, Column>& rows) const {
    const auto n = static_cast<index_t>(columns.shape(0));
    Growing<double> values;
    Growing<column_t> places;
    Growing<index_t> starts;
    {
      nb::gil_scoped_release nogil;
      starts.push(0);
      each_taken(rows, bias, columns.data(), n, [&, last = index_t{0}](index_t i, index_t k, double value) mutable {
        for (; last < i; ++last) starts.push(static_cast<index_t>(values.size()));
        values.push(value);
        places.push(static_cast<column_t>(k));
      });
      while (static_cast<index_t>(starts.size()) <= rows.n_rows) starts.push(static_cast<index_t>(values.size()));
    }
    const nb::object kept[] = {array(values), array(places), array(starts)};
    const CsrRows<double, column_t> taken{nb::cast<In<double>>(kept[0]).data(), nb::cast<In<column_t>>(kept[1]).data(),
                                          nb::cast<In<index_t>>(kept[2]).data(), rows.n_rows, n};
    return {taken, {}, rows.n_rows, n, kept[0], kept[1], kept[2]};
  }
};

Rows take_sparse(const Rows& rows, double bias, In<index_t> columns) {
  rows.check();
  require_columns(rows, columns);
  return std::visit(Taken{bias, columns}, rows.any);
}

/// Products of the columns of sparse rows. Dense rows raise an error.
struct Products {
  const double* weight;
  double* out;

  template <class Value>
  void operator()(const DenseRows<Value>&) const {
    throw std::invalid_argument("products of the columns of dense rows are left to BLAS");
  }
  template <class Value, class Column>
  void operator()(const CsrRows<Value, Column>& rows) const {
    nb::gil_scoped_release nogil;
    add_products(rows, weight, out);
  }
};

void products(const Rows& rows, In<double> weight, Matrix out) {
  rows.check();
  const auto n = static_cast<std::size_t>(rows.n_features);
  require(static_cast<index_t>(weight.shape(0)) == rows.n_rows, "there must be a weight for every row");
  require(out.shape(0) == n && out.shape(1) == n, "out must have a place for every pair of columns");
  std::visit(Products{weight.data(), out.data()}, rows.any);
}

void add(const Rows& rows, In<double> a, In<double> b, Out<double> first, Out<double> second) {
  rows.check();
  require(static_cast<index_t>(a.shape(0)) == rows.n_rows && static_cast<index_t>(b.shape(0)) == rows.n_rows,
          "there must be a coefficient for every row");
  require(static_cast<index_t>(first.shape(0)) >= rows.n_features && static_cast<index_t>(second.shape(0)) >= rows.n_features,
          "there must be a sum for every feature");
  nb::gil_scoped_release nogil;
  std::visit([&](const auto& x) { add_columns(x, a.data(), b.data(), first.data(), second.data()); }, rows.any);
}

/// The columns of sparse rows that hold any value.
struct Columns {
  ColumnStore store;
  nb::object ids, starts, row_of, values, squares;  // keep the memory alive
};

struct Turned {
  template <class Value>
  Columns operator()(const DenseRows<Value>&) const {
    throw std::invalid_argument("only sparse rows are turned to columns");
  }
  template <class Value, class Column>
  Columns operator()(const CsrRows<Value, Column>& rows) const {
    const auto n = static_cast<std::size_t>(rows.n_values());
    Growing<index_t> ids, starts;
    Growing<std::int32_t> row_of;
    Growing<double> values, squares;
    {
      nb::gil_scoped_release nogil;
      std::vector<index_t> ends(static_cast<std::size_t>(rows.n_features) + 1, 0);
      row_of.expect(n);
      values.expect(n);
      std::vector<double> sums(static_cast<std::size_t>(rows.n_features), 0.0);
      by_columns(rows, ends.data(), row_of.room(n), values.room(n), sums.data());
      row_of.commit(n);
      values.commit(n);
      starts.push(0);
      for (index_t j = 0; j < rows.n_features; ++j) {
        if (ends[j + 1] == ends[j]) continue;
        ids.push(j);
        starts.push(ends[j + 1]);
        squares.push(sums[j]);
      }
    }
    Columns turned{{rows.n_rows, static_cast<index_t>(ids.size()), starts.data(), row_of.data(), values.data(), squares.data()},
                   {},
                   {},
                   {},
                   {},
                   {}};
    turned.ids = array(ids);
    turned.starts = array(starts);
    turned.row_of = array(row_of);
    turned.values = array(values);
    turned.squares = array(squares);
    turned.store.starts = nb::cast<In<index_t>>(turned.starts).data();
    turned.store.row_of = nb::cast<In<std::int32_t>>(turned.row_of).data();
    turned.store.values = nb::cast<In<double>>(turned.values).data();
    turned.store.squares = nb::cast<In<double>>(turned.squares).data();
    return turned;
  }
};

Columns turn(const Rows& rows) {
  rows.check();
  require(rows.n_rows <= std::numeric_limits<std::int32_t>::max(), "there are too many rows for one batch");
  return std::visit(Turned{}, rows.any);
}

double ascend(ReadMatrix X, In<double> y, In<double> cost, bool squared, Out<double> a, Out<double> w) {
  const auto n = static_cast<index_t>(X.shape(0)), m = static_cast<index_t>(X.shape(1));
  for (const std::size_t length : {y.shape(0), cost.shape(0), a.shape(0)})
    require(static_cast<index_t>(length) == n, "there must be a target, a cost and a dual variable for every row");
  require(static_cast<index_t>(w.shape(0)) == m, "there must be a weight for every column");
  nb::gil_scoped_release nogil;
  BoxAscent ascent{y.data(), cost.data(), a.data(), w.data(), squared};
  return ascent.pass(DenseRows<double>{X.data(), n, m});
}

void add_group(GroupRows& rows, ReadMatrix X, In<index_t> places) {
  const auto n = static_cast<index_t>(X.shape(0));
  bool rising = static_cast<index_t>(places.shape(0)) == n;
  for (index_t i = 0; i < n && rising; ++i)
    rising = places.data()[i] > (i ? places.data()[i - 1] : -1) && places.data()[i] < rows.n_rows;
  require(rising, "there must be a row for all values of a group, and they must rise");
  rows.add(X.data(), places.data(), n, static_cast<index_t>(X.shape(1)));
}

nb::tuple group_ascend(const GroupRows& rows, In<double> y, In<double> cost, double C, double sigma, double ridge,
                       const std::string& step, In<double> w0, Out<double> a, Out<double> z, Out<double> w) {
  for (const std::size_t length : {y.shape(0), cost.shape(0), a.shape(0)})
    require(static_cast<index_t>(length) == rows.n_rows, "there must be a target, a cost and a dual variable for every row");
  for (const std::size_t length : {w0.shape(0), z.shape(0), w.shape(0)})
    require(static_cast<index_t>(length) >= rows.width(), "there must be a weight for every column");
  require(C > 0 && sigma > 0 && ridge >= 0, "C and sigma must be above 0");
  using Step = GroupAscent::Step;
  const Step rule = step == "exact" ? Step::exact : step == "safe" ? Step::safe : Step::corrected;
  GroupAscent ascent{rows, y.data(), cost.data(), w0.data(), a.data(), z.data(), w.data(), C, sigma, ridge, rule};
  double largest = 0;
  Two values;
  {
    nb::gil_scoped_release nogil;
    largest = ascent.pass();
    values = ascent.values();
  }
  return nb::make_tuple(largest, values.first(), values.second());
}

index_t search(ColumnSearch& search, In<double> share, In<bool> left, Out<index_t> out) {
  require(static_cast<index_t>(share.shape(0)) == search.n_rows(), "there must be a coefficient for every row");
  require(static_cast<index_t>(left.shape(0)) == search.n_columns(), "every column must be left or not");
  nb::gil_scoped_release nogil;
  return search.best(share.data(), left.data(), static_cast<index_t>(out.shape(0)), out.data());
}

index_t best(In<double> scores, In<bool> left, Out<index_t> out) {
  require(scores.shape(0) == left.shape(0), "every column must have a score and be left or not");
  nb::gil_scoped_release nogil;
  return best_columns(scores.data(), left.data(), static_cast<index_t>(scores.shape(0)), static_cast<index_t>(out.shape(0)),
                      out.data());
}

}  // namespace

void bind_batches(nb::module_& m) {
  m.def("take_columns", &take, nb::arg("rows"), nb::arg("bias"), nb::arg("columns").noconvert(), nb::arg("out").noconvert(),
        "Dense values of some columns, written to `out`, which holds zeros; column n_features is the constant.");
  m.def("take_sparse", &take_sparse, nb::arg("rows"), nb::arg("bias"), nb::arg("columns").noconvert(),
        "Some columns of sparse rows, as sparse rows; column n_features is the constant.");
  m.def("add_products", &products, nb::arg("rows"), nb::arg("weight"), nb::arg("out").noconvert(),
        "out += X' diag(weight) X, of sparse rows X.");
  m.def("add_columns", &add, nb::arg("rows"), nb::arg("a"), nb::arg("b"), nb::arg("first").noconvert(),
        nb::arg("second").noconvert(), "first += X' a and second += (X * X)' b.");
  m.def("ascend", &ascend, nb::arg("X").noconvert(), nb::arg("y"), nb::arg("cost"), nb::arg("squared"), nb::arg("a").noconvert(),
        nb::arg("w").noconvert(), "One pass of dual coordinate ascent; the largest change of w that one row made.");
  nb::class_<GroupRows>(m, "GroupRows", "The rows of a batch over groups of chosen columns.")
      .def("__init__",
           [](GroupRows* self, ReadMatrix fixed) {
    new (self) GroupRows(fixed.data(), static_cast<index_t>(fixed.shape(0)), static_cast<index_t>(fixed.shape(1)));
  }, nb::arg("fixed").noconvert(), "Rows with values in columns outside the groups.")
      .def("add", &add_group, nb::arg("X").noconvert(), nb::arg("rows").noconvert(),
           "One more group: its values in these rows; in the others it has none.");
  m.def("group_ascend", &group_ascend, nb::arg("rows"), nb::arg("y"), nb::arg("cost"), nb::arg("C"), nb::arg("sigma"),
        nb::arg("ridge"), nb::arg("step"), nb::arg("w0"), nb::arg("a").noconvert(), nb::arg("z").noconvert(),
        nb::arg("w").noconvert(),
        "One pass of dual coordinate ascent over groups of columns; the largest change of z that one row made, the objective and "
        "that of the dual.");
  nb::class_<Columns>(m, "Columns", "The values of sparse rows column by column, without columns that have none.")
      .def_static("of", &turn, nb::arg("rows"))
      .def_ro("ids", &Columns::ids, "The column of the rows that each of them is.")
      .def_ro("starts", &Columns::starts, "Where each column begins among the values.")
      .def_ro("row_of", &Columns::row_of, "The row of every value.")
      .def_ro("values", &Columns::values)
      .def_ro("squares", &Columns::squares, "The sum of the squares of each column.");
  nb::class_<ColumnSearch>(m, "ColumnSearch", "Finds the best columns by s (s / precision + 2 mean), with s = X' share.")
      .def("__init__",
           [](ColumnSearch* self, const Columns& columns, In<double> precision, In<double> mean) {
    for (const std::size_t n : {precision.shape(0), mean.shape(0)})
      require(static_cast<index_t>(n) == columns.store.n_columns, "every column must have a precision and a mean");
    new (self) ColumnSearch(columns.store, precision.data(), mean.data());
  }, nb::arg("columns"), nb::arg("precision"), nb::arg("mean"), nb::keep_alive<1, 2>())
      .def("best", &search, nb::arg("share"), nb::arg("left"), nb::arg("out").noconvert(),
           "Write the best columns of those that are left to `out`, the largest first; how many there are.");
  m.def("best_columns", &best, nb::arg("scores"), nb::arg("left"), nb::arg("out").noconvert(),
        "Write the columns with the largest scores of those that are left to `out`, the largest first; how many there are.");
}

}  // namespace thresher
