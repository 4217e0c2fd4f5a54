// Reading rows that come one by one.
#include "bind_one_row.hpp"

#include "bind.hpp"

namespace thresher {
namespace {

/// Names, column numbers and numbers that are read without running any Python code, which might change the dict.
bool is_plain_key(PyObject* key) { return PyUnicode_CheckExact(key) || PyLong_CheckExact(key); }
bool is_plain_value(PyObject* value) { return PyFloat_Check(value) || PyLong_CheckExact(value) || PyBool_Check(value); }

nb::object checked(PyObject* made) {
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

std::string shown(nb::handle key) { return nb::cast<std::string>(nb::repr(key)); }

template <class T>
nb::object copied(const std::vector<T>& from) {
  auto* data = new T[from.size()];
  std::copy(from.begin(), from.end(), data);
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {from.size()}, owner));
}

/// The last row in arrays of its own.
Rows rows_of(const RowReader& reader) {
  const nb::object values = copied(reader.row.values()), columns = copied(reader.row.columns());
  const nb::object starts = copied(std::vector<index_t>{0, static_cast<index_t>(reader.row.values().size())});
  const CsrRows<double, column_t> rows{nb::cast<In<double>>(values).data(), nb::cast<In<column_t>>(columns).data(),
                                       nb::cast<In<index_t>>(starts).data(), 1, reader.width};
  return {rows, Finding(), 1, reader.width, values, columns, starts};
}

/// Whether a dict has these objects under these names; one that is not there counts as None.
bool same_entries(const nb::dict& entries, const nb::tuple& names, const nb::tuple& values) {
  const Py_ssize_t n = NB_TUPLE_GET_SIZE(names.ptr());
  if (n != NB_TUPLE_GET_SIZE(values.ptr())) return false;
  for (Py_ssize_t k = 0; k < n; ++k) {
    PyObject* found = PyDict_GetItemWithError(entries.ptr(), NB_TUPLE_GET_ITEM(names.ptr(), k));
    if (!found && PyErr_Occurred()) throw nb::python_error();
    if ((found ? found : Py_None) != NB_TUPLE_GET_ITEM(values.ptr(), k)) return false;
  }
  return true;
}

}  // namespace

void RowReader::refuse(const std::string& what) const { throw std::invalid_argument(who + ": " + what); }

index_t RowReader::read(nb::handle x, bool learns) {
  const bool is_dict = PyDict_Check(x.ptr());
  if (is_dict && width == n_features && is_last(x)) return width;
  last.clear();
  row.clear();
  new_names.clear();
  width = n_features;
  if (is_dict) read_dict(x, learns);
  else if (PyTuple_Check(x.ptr()) && NB_TUPLE_GET_SIZE(x.ptr()) == 2) read_pair(x, learns);
  else refuse("x must be a dict, or a pair of column numbers and values, got " + nb::cast<std::string>(nb::inst_name(x)) + ".");
  if (!row.close()) {
    last.clear();
    refuse("x must name each column once.");
  }
  return width;
}

void RowReader::take(const Rows& rows) {
  rows.check();
  require(rows.n_rows == 1, "a reader takes one row");
  last.clear();
  row.clear();
  new_names.clear();
  width = rows.n_features;
  std::visit([&](const auto& x) { x.row(0, 0.0).each([&](index_t j, double xj) { row.add(j, xj); }); }, rows.any);
  row.close();
}

/// Whether a dict has the objects of the last one, in the same order. They are numbers and names, which nothing changes.
bool RowReader::is_last(nb::handle x) const {
  if (last.empty() || 2 * NB_DICT_GET_SIZE(x.ptr()) != static_cast<Py_ssize_t>(last.size())) return false;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  for (std::size_t k = 0; PyDict_Next(x.ptr(), &at, &key, &value); k += 2)
    if (last[k].ptr() != key || last[k + 1].ptr() != value) return false;
  return true;
}

void RowReader::keep(nb::handle x) {
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(x.ptr(), &at, &key, &value)) {
    last.push_back(nb::borrow(key));
    last.push_back(nb::borrow(value));
  }
}

void RowReader::read_dict(nb::handle x, bool learns) {
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  while (PyDict_Next(x.ptr(), &at, &key, &value)) {
    if (!is_plain_key(key) || !is_plain_value(value)) return read_items(x, learns);
    add(key, value, learns);
  }
  if (width == n_features && row.size() == static_cast<std::size_t>(NB_DICT_GET_SIZE(x.ptr()))) keep(x);
}

/// The same for keys and values of any type.
void RowReader::read_items(nb::handle x, bool learns) {
  row.clear();
  new_names.clear();
  width = n_features;
  const nb::object items = checked(PyDict_Items(x.ptr()));  // a list of our own
  for (const nb::handle item : nb::borrow<nb::list>(items)) {
    const nb::object key = item[0], value = item[1];
    if (PyUnicode_Check(key.ptr())) add(checked(PyUnicode_FromObject(key.ptr())), value, learns);
    else add(key, value, learns);
  }
}

void RowReader::read_pair(nb::handle x, bool learns) {
  const nb::object columns = checked(PySequence_Tuple(NB_TUPLE_GET_ITEM(x.ptr(), 0)));
  const nb::object values = checked(PySequence_Tuple(NB_TUPLE_GET_ITEM(x.ptr(), 1)));
  const Py_ssize_t n = NB_TUPLE_GET_SIZE(columns.ptr());
  if (n != NB_TUPLE_GET_SIZE(values.ptr())) refuse("x must have as many values as column numbers.");
  for (Py_ssize_t k = 0; k < n; ++k) add_column(NB_TUPLE_GET_ITEM(columns.ptr(), k), NB_TUPLE_GET_ITEM(values.ptr(), k), learns);
}

void RowReader::add(nb::handle key, nb::handle value, bool learns) {
  if (!PyUnicode_Check(key.ptr())) return add_column(key, value, learns);
  const double v = number(value, key);
  if (PyObject* place = PyDict_GetItemWithError(places.ptr(), key.ptr())) return row.add(PyLong_AsLongLong(place), v);
  if (PyErr_Occurred()) throw nb::python_error();
  if (places.size() == 0 && new_names.empty() && width > 0)
    refuse("x must have column numbers, as the rows before, got the name " + shown(key) + ".");
  if (!learns) return;
  row.add(width++, v);
  new_names.push_back(nb::borrow(key));
}

void RowReader::add_column(nb::handle key, nb::handle value, bool learns) {
  if (!PyIndex_Check(key.ptr())) refuse("x must have names or column numbers, got " + shown(key) + ".");
  if (places.size() > 0 || !new_names.empty())
    refuse("x must have names of features, as the rows before, got " + shown(key) + ".");
  const index_t column = PyNumber_AsSsize_t(key.ptr(), nullptr);  // clipped to the range of its type
  if (column == -1 && PyErr_Occurred()) throw nb::python_error();
  if (column < 0 || column >= most_features)
    refuse("column numbers of x must lie in 0 ... " + std::to_string(most_features - 1) + ", got " + shown(key) + ".");
  const double v = number(value, key);
  if (column >= n_features && !learns) return;
  row.add(column, v);
  width = std::max(width, column + 1);
}

double RowReader::number(nb::handle value, nb::handle key) const {
  double v = PyFloat_AsDouble(value.ptr());
  if (v == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    refuse("x must hold numbers, got " + shown(value) + " for " + shown(key) + ".");
  }
  if (!usable(v)) refuse("x must hold finite numbers up to 1e100 in size, got " + shown(value) + " for " + shown(key) + ".");
  return v;
}

nb::list RowReader::accept() {
  nb::list names;
  for (const nb::object& name : new_names) {
    places[name] = n_features++;
    names.append(name);
  }
  new_names.clear();
  last.clear();
  n_features = width;
  return names;
}

void bind_one_row(nb::module_& m) {
  nb::class_<RowReader>(m, "RowReader", "Reads rows that come one by one; knows the columns of names.")
      .def(nb::init<std::string, nb::dict, index_t>(), nb::arg("who"), nb::arg("places"), nb::arg("n_features"))
      .def("read", &RowReader::read, nb::arg("x"), nb::arg("learns"))
      .def("take", &RowReader::take, nb::arg("rows"))
      .def("accept", &RowReader::accept)
      .def("rows", &rows_of)
      .def("values", [](const RowReader& reader) { return copied(reader.row.values()); })
      .def_ro("n_features", &RowReader::n_features)
      .def_ro("width", &RowReader::width);
  m.def("same_entries", &same_entries, nb::arg("entries"), nb::arg("names"), nb::arg("values"));
}

}  // namespace thresher
