// How a learner of coupled outputs meets Python, as in bind.hpp, and how any learner does; codes are checked before the loop trusts them.
#pragma once
#include <vector>

#include "bind.hpp"
#include "matrix_pass.hpp"

namespace thresher {

/// One code below n_codes for each row; without codes, all are 0.
inline void check_codes(const std::optional<In<index_t>>& codes, index_t n_codes, index_t n_rows) {
  require(n_codes > 0, "there must be a task or a class");
  if (!codes) return;
  require(static_cast<index_t>(codes->shape(0)) == n_rows, "codes and rows differ in length");
  bool inside = true;
  for (index_t i = 0; i < n_rows; ++i) inside &= codes->data()[i] >= 0 && codes->data()[i] < n_codes;
  require(inside, "a code names a task or class that is not there");
}

/// Whether the code of a row is that of one of the outputs; tasks and classes of other learners may have codes of their own.
template <class L, class = void> struct CodesAreOutputs : std::false_type {};
template <class L> struct CodesAreOutputs<L, std::void_t<decltype(L::codes_are_outputs)>> : std::true_type {};

template <class L>
nb::tuple run_matrix_pass_of(const Rows& rows, double bias, In<double> y, index_t n_codes, std::optional<In<index_t>> codes,
                             std::optional<In<double>> rounds, std::optional<In<double>> weight, std::optional<In<index_t>> order,
                             nb::dict state, nb::dict params, std::optional<Out<double>> margins, index_t begin,
                             std::optional<In<double>> other_rows, std::optional<In<index_t>> other_at,
                             std::optional<Out<double>> other_scores, bool count_scores) {
  rows.check();
  require(begin >= 0, "begin must not be negative");
  require(static_cast<index_t>(y.shape(0)) == rows.n_rows, "y and the rows differ in length");
  require(!weight || weight->shape(0) == y.shape(0), "weights and rows differ in length");
  require(!rounds || rounds->shape(0) == y.shape(0), "rounds and rows differ in length");
  check_codes(codes, n_codes, rows.n_rows);
  const MatrixLesson lesson{y.data(),
                            codes ? codes->data() : nullptr,
                            weight ? weight->data() : nullptr,
                            rounds ? rounds->data() : nullptr,
                            order ? order->data() : nullptr,
                            begin,
                            order ? static_cast<index_t>(order->shape(0)) : rows.n_rows};
  if (order) check_order(lesson.order, lesson.n_steps, rows.n_rows);
  const PySource source(std::move(state), std::move(params), rows.n_features + 1);
  Tally& tally = *reinterpret_cast<Tally*>(source.array("tally", "tally"));
  L learner(source);
  require(!CodesAreOutputs<L>::value || (n_codes > 1 && n_codes == learner.width()), "there must be an output for every class");
  require(!margins || static_cast<index_t>(margins->shape(0)) == lesson.n_steps * learner.width(),
          "margins and steps differ in length");
  const OtherForm other = other_form(other_rows, other_at, other_scores, rows.n_features, lesson.n_steps, learner.width());
  std::vector<double> out(static_cast<std::size_t>(2 * learner.width()));
  ScoreCounts counts = score_counts(source, count_scores, learner.width());
  PassResult r;
  {
    nb::gil_scoped_release nogil;
    r = std::visit([&](const auto& x) {
      return run_matrix_pass(learner, x, bias, lesson, tally, out.data(), margins ? margins->data() : nullptr, other,
                             counts ? &counts : nullptr);
    }, rows.any);
  }
  return nb::make_tuple(r.n_mistakes, r.diverged, r.paused);
}

template <class L>
void matrix_scores_of(const Rows& rows, double bias, index_t n_codes, std::optional<In<index_t>> codes, nb::dict state,
                      nb::dict params, Out<double> out) {
  rows.check();
  check_codes(codes, n_codes, rows.n_rows);
  const PySource source(std::move(state), std::move(params), rows.n_features + 1);
  L learner(source);
  require(static_cast<index_t>(out.shape(0)) == rows.n_rows * learner.width(), "out and the rows differ in length");
  nb::gil_scoped_release nogil;
  if constexpr (HasRead<L>::value) learner.read();
  std::visit([&](const auto& x) { run_matrix_scores(learner, x, bias, codes ? codes->data() : nullptr, out.data()); }, rows.any);
}

/// The weights of all features, those of one feature for all outputs beside each other.
template <class L>
void matrix_weights_of(nb::dict state, nb::dict params, index_t n_weights, Out<double> out) {
  require(n_weights > 0 && static_cast<index_t>(out.shape(0)) % n_weights == 0, "out must have places for every weight");
  const index_t n_outputs = static_cast<index_t>(out.shape(0)) / n_weights;
  const PySource source(std::move(state), std::move(params), n_weights);
  L learner(source);
  require(n_outputs == source.extent(L::outputs), "out must have a place for every output");
  nb::gil_scoped_release nogil;
  if constexpr (HasRead<L>::value) learner.read();
  Watch watch;
  for (index_t j = 0; j < n_weights; ++j) {
    watch.tick();
    learner.weights(j, out.data() + j * n_outputs);
  }
}

template <class L>
void bind_matrix_learner(nb::module_& m, const char* name, const char* what) {
  nb::class_<L> c(m, name, what);
  bind_fields_and_hooks(c);
  c.def_static("run_pass", &run_matrix_pass_of<L>, nb::arg("rows"), nb::arg("bias"), nb::arg("y"), nb::arg("n_codes"),
               nb::arg("codes").none(), nb::arg("rounds").none(), nb::arg("weight").none(), nb::arg("order").none(),
               nb::arg("state"), nb::arg("params"), nb::arg("margins").noconvert().none(), nb::arg("begin") = 0,
               nb::arg("other_rows").none() = nb::none(), nb::arg("other_at").none() = nb::none(),
               nb::arg("other_scores").noconvert().none() = nb::none(), nb::arg("count_scores") = false);
  c.def_static("scores", &matrix_scores_of<L>, nb::arg("rows"), nb::arg("bias"), nb::arg("n_codes"), nb::arg("codes").none(),
               nb::arg("state"), nb::arg("params"), nb::arg("out").noconvert());
  c.def_static("weights", &matrix_weights_of<L>, nb::arg("state"), nb::arg("params"), nb::arg("n_weights"),
               nb::arg("out").noconvert());
}

/// A learner of coupled outputs has a width: the number of scores of a row.
template <class L, class = void> struct IsCoupled : std::false_type {};
template <class L> struct IsCoupled<L, std::void_t<decltype(&L::width)>> : std::true_type {};

template <class L>
void bind_any_learner(nb::module_& m, const char* name, const char* what) {
  if constexpr (IsCoupled<L>::value) bind_matrix_learner<L>(m, name, what);
  else bind_learner<L>(m, name, what);
}

}  // namespace thresher
