// Outputs or candidates of one learner that learn from the same rows, for Python.
#include "bind_several.hpp"

namespace thresher {

Several::Several(Maker<AnySingle> make, const nb::list& states, const nb::list& params, index_t n_weights, index_t n_to_come)
    : n_weights_(n_weights), n_to_come_(n_to_come) {
  const std::size_t n = states.size();
  require(n > 0 && params.size() == n, "there must be parameters for every state");
  for (std::size_t k = 0; k < n; ++k) {
    const PySource& source = sources_.emplace_back(nb::cast<nb::dict>(states[k]), nb::cast<nb::dict>(params[k]), n_weights);
    for (const nb::dict& each : {source.state, source.params})
      for (const auto& [name, value] : each) held_.append(value);
    learners_.push_back(make(source));
    tallies_.push_back(reinterpret_cast<Tally*>(source.array("tally", "tally")));
  }
}

/// Whether lanes save more than it costs to put the weights there and back.
bool Several::pays(const Rows& rows) const {
  const double share = static_cast<double>(n_to_come_) / static_cast<double>(rows.n_rows);
  const auto n_values = static_cast<double>(std::visit([](const auto& x) { return x.n_values(); }, rows.any));
  return share * n_values > 2.0 * static_cast<double>(n_weights_);
}

std::vector<index_t> Several::run(const Rows& rows, double bias, const In<double>& y, const In<double>& positive,
                                  const std::optional<In<double>>& weight, const std::optional<In<index_t>>& order,
                                  const In<index_t>& which, const Matrix& margins) {
  Unchecked* const rest = rows.rest();
  const std::size_t n = which.shape(0);
  require(rows.n_features + 1 == n_weights_, "the rows and the states differ in length");
  require(static_cast<index_t>(y.shape(0)) == rows.n_rows, "y and the rows differ in length");
  require(!weight || weight->shape(0) == y.shape(0), "weights and rows differ in length");
  require(positive.shape(0) == n && margins.shape(0) == n, "outputs, codes and margins differ in length");
  Lesson lesson{y.data(),
                weight ? weight->data() : nullptr,
                order ? order->data() : nullptr,
                0,
                order ? static_cast<index_t>(order->shape(0)) : rows.n_rows,
                true,
                1,
                rest};
  if (order) check_order(lesson.order, lesson.n_steps, rows.n_rows);
  require(static_cast<index_t>(margins.shape(1)) == lesson.n_steps, "margins and steps differ in length");
  std::vector<Output> outputs(learners_.size(), Output{0, nullptr, nullptr});
  std::vector<std::size_t> places;
  for (std::size_t i = 0; i < n; ++i) {
    const auto k = static_cast<std::size_t>(which.data()[i]);  // a negative one becomes too large
    require(k < outputs.size() && !outputs[k].tally, "a learner is not there, or is named twice");
    outputs[k] = {positive.data()[i], tallies_[k], margins.data() + i * margins.shape(1)};
    places.push_back(k);
  }
  nb::gil_scoped_release nogil;
  if (!std::visit([](const auto& x) { return x.gathers; }, rows.any)) {
    lanes_.reset();
  } else if (!lanes_ && n > 1 && pays(rows)) {
    std::vector<AnySingle*> learners;
    learners.reserve(learners_.size());
    for (const auto& each : learners_) learners.push_back(each.get());
    lanes_ = learners_[0]->lanes(learners, n_weights_);
  }
  std::vector<index_t> diverged;
  if (lanes_) {
    const std::vector<index_t> of_all = lanes_->run(rows.any, bias, lesson, outputs);
    for (const std::size_t k : places) diverged.push_back(of_all[k]);
    return diverged;
  }
  for (const std::size_t k : places) {
    lesson.positive = outputs[k].positive;
    diverged.push_back(learners_[k]->run(rows.any, bias, lesson, *tallies_[k], outputs[k].margins, 1, {}, nullptr).diverged);
  }
  return diverged;
}

void bind_several(nb::module_& m) {
  nb::class_<Several>(m, "Several", "Outputs or candidates that learn from the same rows; closing it puts their weights back.")
      .def("run",
           [](Several& of, const Rows& rows, double bias, const In<double>& y, const In<double>& positive,
              const std::optional<In<double>>& weight, const std::optional<In<index_t>>& order, const In<index_t>& which,
              const Matrix& margins) {
    nb::list steps;
    for (const index_t step : of.run(rows, bias, y, positive, weight, order, which, margins)) steps.append(step);
    return steps;
  },
           nb::arg("rows"), nb::arg("bias"), nb::arg("y"), nb::arg("positive"), nb::arg("weight").none(), nb::arg("order").none(),
           nb::arg("which"), nb::arg("margins").noconvert())
      .def("close", &Several::close)
      .def("__enter__", [](nb::object self) {
    return self;
  }).def("__exit__", [](Several& of, const nb::args&) { of.close(); });
}

}  // namespace thresher
