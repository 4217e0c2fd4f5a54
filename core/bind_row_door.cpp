// The fast path for single rows: what an estimator needs to learn from them and score them while its parameters stay the same.
#include "bind_row_models.hpp"

namespace thresher {
namespace {

/// Whether a dict has these objects under these names. A missing name counts as None.
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

bool is_number(nb::handle x) { return PyFloat_Check(x.ptr()) || PyLong_Check(x.ptr()); }

/// A number as a double, or NaN if it does not fit.
double as_double(nb::handle x) {
  const double v = PyFloat_AsDouble(x.ptr());
  if (v == -1 && PyErr_Occurred()) {
    PyErr_Clear();
    return std::numeric_limits<double>::quiet_NaN();
  }
  return v;
}

/// Looks everything up once. `learns` or `reads` is None if only Python code can learn or score.
class RowDoor {
 public:
  RowDoor(nb::object reader, nb::object learns, nb::object reads, nb::tuple names, nb::tuple params, nb::object views,
          nb::object targets, nb::object labels)
      : reader_(pointer<RowReader>(reader)), learns_(pointer<RowModels>(learns)), reads_(pointer<RowModels>(reads)),
        held_(nb::make_tuple(reader, learns, reads)), views_(std::move(views)), targets_(std::move(targets)),
        labels_(std::move(labels)), names_(std::move(names)), params_(std::move(params)) {}

  /// Whether everything that was looked up is still valid for an estimator with these attributes.
  bool holds(const nb::dict& model) const {
    PyObject* state = PyDict_GetItemWithError(model.ptr(), state_name_.ptr());
    if (!state && PyErr_Occurred()) throw nb::python_error();
    if (state ? !nb::getattr(state, views_name_).is(views_) : !views_.is_none()) return false;
    if (learns_ && learns_->has_ended()) return false;
    return same_entries(model, names_, params_);
  }

  /// Learns from a row; see RowModels. A row that is left has been read.
  int learn(nb::dict model, nb::handle x, nb::handle y, nb::handle weight) const {
    const index_t width = reader().read(x, true);
    if (!learns_ || width != reader_->n_features) return RowModels::left;
    const std::optional<std::pair<double, double>> target = target_of(y, weight);
    if (!target) return RowModels::left;
    model[cache_name_] = nb::none();
    return learns_->learn(*reader_, target->first, target->second, !sees_again(model));
  }

  /// The score of a row; None if only Python code can compute it.
  nb::object score(nb::handle x) const {
    reader().read(x, false);
    if (!reads_) return nb::none();
    return nb::float_(reads_->score(*reader_));
  }

  nb::object predict(nb::handle x) const {
    nb::object found = score(x);
    if (found.is_none() || targets_.is_none()) return found;
    if (labels_.is_none()) return nb::none();
    return labels_[PyFloat_AsDouble(found.ptr()) > 0 ? 1 : 0];
  }

  RowReader& reader() const {
    require(reader_, "nothing reads rows");
    return *reader_;
  }

 private:
  template <class T> static T* pointer(const nb::object& to) { return to.is_none() ? nullptr : nb::cast<T*>(to); }

  /// The number to learn for a target, and its weight; none if they need the full checks.
  std::optional<std::pair<double, double>> target_of(nb::handle y, nb::handle weight) const {
    std::pair<double, double> found(0.0, 1.0);
    if (targets_.is_none()) {
      found.first = is_number(y) ? as_double(y) : std::numeric_limits<double>::quiet_NaN();
      if (!usable(found.first)) return std::nullopt;
    } else {
      PyObject* known = PyDict_GetItemWithError(targets_.ptr(), y.ptr());
      if (!known && PyErr_Occurred() && !PyErr_ExceptionMatches(PyExc_TypeError)) throw nb::python_error();
      PyErr_Clear();
      if (!known) return std::nullopt;
      found = {PyFloat_AsDouble(NB_TUPLE_GET_ITEM(known, 0)), PyFloat_AsDouble(NB_TUPLE_GET_ITEM(known, 1))};
    }
    if (weight.is_none()) return found;
    const double times = is_number(weight) ? as_double(weight) : -1;
    if (!usable(times) || times < 0) return std::nullopt;
    found.second *= times;
    return found;
  }

  bool sees_again(const nb::dict& model) const {
    PyObject* found = PyDict_GetItemWithError(model.ptr(), again_name_.ptr());
    return found && PyObject_IsTrue(found) == 1;
  }

  RowReader* reader_;
  RowModels *learns_, *reads_;
  nb::object held_, views_;
  nb::object targets_;  // for each label, the number to learn and the class weight; None for regression
  nb::object labels_;   // the classes of scores up to 0 and above; None if decisions need more
  nb::tuple names_, params_;
  nb::str state_name_ = interned("state_"), views_name_ = interned("views"), cache_name_ = interned("_weights_cache"),
          again_name_ = interned("_sees_again");

  static nb::str interned(const char* name) { return nb::steal<nb::str>(PyUnicode_InternFromString(name)); }
};

}  // namespace

void bind_row_door(nb::module_& m) {
  nb::class_<RowDoor>(m, "RowDoor", "The way of single rows into a model; looks up once what stays from row to row.")
      .def(nb::init<nb::object, nb::object, nb::object, nb::tuple, nb::tuple, nb::object, nb::object, nb::object>(),
           nb::arg("reader").none(), nb::arg("learns").none(), nb::arg("reads").none(), nb::arg("names"), nb::arg("params"),
           nb::arg("views").none(), nb::arg("targets").none(), nb::arg("labels").none())
      .def("holds", &RowDoor::holds)
      .def("learn", &RowDoor::learn, nb::arg("model"), nb::arg("x").none(), nb::arg("y").none(), nb::arg("weight").none())
      .def("score", &RowDoor::score, nb::arg("x").none())
      .def("predict", &RowDoor::predict, nb::arg("x").none())
      .def_prop_ro("reader", &RowDoor::reader, nb::rv_policy::reference_internal);
  m.def("same_entries", &same_entries, nb::arg("entries"), nb::arg("names"), nb::arg("values"));
}

}  // namespace thresher
