// Reads single rows, for Python.
#include "bind_one_row.hpp"

#include "bind.hpp"

namespace thresher {
namespace {

constexpr Py_ssize_t longest_refusal = 300;  // characters

/// Whether a key or a value can be read without running Python code, which could change the dict.
bool is_plain_key(PyObject* key) { return PyUnicode_CheckExact(key) || PyLong_CheckExact(key); }
bool is_plain_value(PyObject* value) { return PyFloat_Check(value) || PyLong_CheckExact(value) || PyBool_Check(value); }

nb::object checked(PyObject* made) {
  if (!made) throw nb::python_error();
  return nb::steal(made);
}

std::size_t hash_of(PyObject* plain) {
  const Py_hash_t hash = PyObject_Hash(plain);
  if (hash == -1) throw nb::python_error();
  return static_cast<std::size_t>(hash);
}

/// The UTF-8 bytes of a name. Names with a lone surrogate have none: all get the same long text, and are told apart as objects.
std::string_view text_of(nb::handle name) {
  Py_ssize_t size = 0;
  if (const char* text = PyUnicode_AsUTF8AndSize(name.ptr(), &size)) return {text, static_cast<std::size_t>(size)};
  PyErr_Clear();
  return "a name that cannot be written as UTF-8";
}

std::string shown(nb::handle key) { return nb::cast<std::string>(nb::repr(key)); }

template <class T>
nb::object copied(const std::vector<T>& from) {
  auto* data = new T[from.size()];
  std::copy(from.begin(), from.end(), data);
  nb::capsule owner(data, [](void* p) noexcept { delete[] static_cast<T*>(p); });
  return nb::cast(nb::ndarray<nb::numpy, T, nb::ndim<1>>(data, {from.size()}, owner));
}

/// A copy of the last row.
Rows rows_of(const RowReader& reader) {
  const nb::object values = copied(reader.row.values()), columns = copied(reader.row.columns());
  const nb::object starts = copied(std::vector<index_t>{0, static_cast<index_t>(reader.row.values().size())});
  const CsrRows<double, column_t> rows{nb::cast<In<double>>(values).data(), nb::cast<In<column_t>>(columns).data(),
                                       nb::cast<In<index_t>>(starts).data(), 1, reader.width};
  return {rows, Finding(), 1, reader.width, values, columns, starts};
}

}  // namespace

RowReader::RowReader(std::string model, const nb::iterable& known, index_t n) : who(std::move(model)), n_features(n), width(n) {
  for (const nb::handle name : known) know(checked(PyUnicode_FromObject(name.ptr())));
}

void RowReader::refuse(const std::string& what) const {
  const nb::str whole((who + ": " + what).c_str());  // may quote values of any length
  if (PyUnicode_GetLength(whole.ptr()) <= longest_refusal) throw nb::value_error(whole.c_str());
  const nb::object begin = checked(PyUnicode_Substring(whole.ptr(), 0, longest_refusal - 3));
  throw nb::value_error((nb::cast<std::string>(begin) + "...").c_str());
}

index_t RowReader::read(nb::handle x, bool learns) {
  const bool is_dict = PyDict_Check(x.ptr());
  if (is_dict && is_last(x)) return width;
  begin(n_features);
  if (is_dict) read_dict(x, learns);
  else if (PyTuple_Check(x.ptr()) && NB_TUPLE_GET_SIZE(x.ptr()) == 2) read_pair(x, learns);
  else refuse("x must be a dict, or a pair of column numbers and values, got " + nb::cast<std::string>(nb::inst_name(x)) + ".");
  if (!row.close()) refuse("x must name each column once.");
  is_whole = width == n_features && 2 * row.size() == last.size();
  return width;
}

/// Clears the last row.
void RowReader::begin(index_t wide) {
  is_whole = false;
  last.clear();
  row.clear();
  new_names.clear();
  width = wide;
}

void RowReader::take(const Rows& rows) {
  rows.check();
  require(rows.n_rows == 1, "a reader takes one row");
  begin(rows.n_features);
  std::visit([&](const auto& x) { x.row(0, 0.0).each([&](index_t j, double xj) { row.add(j, xj); }); }, rows.any);
  row.close();
}

/// Whether a dict has the same objects as the last one, in the same order. Numbers and names are immutable.
bool RowReader::is_last(nb::handle x) const {
  if (!is_whole || 2 * NB_DICT_GET_SIZE(x.ptr()) != static_cast<Py_ssize_t>(last.size())) return false;
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  for (std::size_t k = 0; PyDict_Next(x.ptr(), &at, &key, &value); k += 2)
    if (last[k].ptr() != key || last[k + 1].ptr() != value) return false;
  return true;
}

/// Prefetches the places of all names before it looks up the first, so that memory accesses overlap.
void RowReader::read_dict(nb::handle x, bool learns) {
  PyObject *key = nullptr, *value = nullptr;
  Py_ssize_t at = 0;
  hashes.clear();
  last.reserve(2 * static_cast<std::size_t>(NB_DICT_GET_SIZE(x.ptr())));
  while (PyDict_Next(x.ptr(), &at, &key, &value)) {
    if (!is_plain_key(key) || !is_plain_value(value)) return read_items(x, learns);
    last.push_back(nb::borrow(key));
    last.push_back(nb::borrow(value));
    hashes.push_back(hash_of(key));
    places.prefetch(hashes.back());
  }
  for (std::size_t k = 0; k < hashes.size(); ++k) {
    const nb::handle name = last[2 * k], number_of = last[2 * k + 1];
    if (PyUnicode_Check(name.ptr())) add_name(name, hashes[k], number(number_of, name), learns);
    else add_column(name, number_of, learns);
  }
}

/// The same for keys and values of any type.
void RowReader::read_items(nb::handle x, bool learns) {
  last.clear();
  const nb::object items = checked(PyDict_Items(x.ptr()));  // a copy, which Python code cannot change
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
  add_name(key, hash_of(key.ptr()), v, learns);
}

void RowReader::add_name(nb::handle name, std::size_t hash, double value, bool learns) {
  const index_t column = place(name, hash);
  if (column != NameTable::missing) return row.add(column, value);
  if (names.empty() && new_names.empty() && width > 0)
    refuse("x must have column numbers, as the rows before, got the name " + shown(name) + ".");
  if (!learns) return;
  row.add(width++, value);
  new_names.push_back(nb::borrow(name));
}

index_t RowReader::place(nb::handle name, std::size_t hash) const {
  return places.find(hash, text_of(name), [&](index_t column) {
    return PyUnicode_Compare(names[static_cast<std::size_t>(column)].ptr(), name.ptr()) == 0;
  });
}

/// Assigns the next column to a name.
void RowReader::know(nb::object name) {
  const std::size_t hash = hash_of(name.ptr());
  if (place(name, hash) == NameTable::missing) places.add(hash, text_of(name), static_cast<index_t>(names.size()));
  names.push_back(std::move(name));
}

void RowReader::add_column(nb::handle key, nb::handle value, bool learns) {
  if (!PyIndex_Check(key.ptr())) refuse("x must have names or column numbers, got " + shown(key) + ".");
  if (!names.empty() || !new_names.empty()) refuse("x must have names of features, as the rows before, got " + shown(key) + ".");
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
  nb::list added;
  for (nb::object& name : new_names) {
    added.append(name);
    know(std::move(name));
  }
  new_names.clear();
  n_features = width;
  return added;
}

void bind_one_row(nb::module_& m) {
  nb::class_<RowReader>(m, "RowReader", "Reads rows that come one by one; knows the columns of names.")
      .def(nb::init<std::string, nb::iterable, index_t>(), nb::arg("who"), nb::arg("names"), nb::arg("n_features"))
      .def("read", &RowReader::read, nb::arg("x").none(), nb::arg("learns"))
      .def("take", &RowReader::take, nb::arg("rows"))
      .def("accept", &RowReader::accept)
      .def("rows", &rows_of)
      .def("values", [](const RowReader& reader) { return copied(reader.row.values()); })
      .def_ro("n_features", &RowReader::n_features)
      .def_ro("width", &RowReader::width);
}

}  // namespace thresher
