// The functions of learners, for Python. Shapes and indices are checked here, so loops can rely on them.
#include <deque>
#include <vector>

#include "bind_matrix.hpp"
#include "bind_row_models.hpp"
#include "bind_several.hpp"

namespace thresher {
namespace {

using Strided = nb::ndarray<double, nb::ndim<1>, nb::device::cpu>;

/// Checks and collects rows in another form, for n_steps steps with `width` scores each.
OtherForm other_form(const std::optional<In<double>>& rows, const std::optional<In<index_t>>& at,
                     const std::optional<Out<double>>& scores, index_t n_features, index_t n_steps, index_t width) {
  if (!at) return {};
  require(rows && scores && static_cast<index_t>(at->shape(0)) == n_steps &&
              static_cast<index_t>(scores->shape(0)) == n_steps * width,
          "scores of another form and steps differ in length");
  bool inside = true;
  for (index_t t = 0; t < n_steps; ++t) inside &= at->data()[t] * n_features <= static_cast<index_t>(rows->shape(0)) - n_features;
  require(inside, "a step names another form that is not there");
  return {rows->data(), at->data(), scores->data()};
}

/// Requires one code below n_codes for each row. Without codes, all are 0.
void check_codes(const std::optional<In<index_t>>& codes, index_t n_codes, index_t n_rows) {
  require(n_codes > 0, "there must be a task or a class");
  if (!codes) return;
  require(static_cast<index_t>(codes->shape(0)) == n_rows, "codes and rows differ in length");
  bool inside = true;
  for (index_t i = 0; i < n_rows; ++i) inside &= codes->data()[i] >= 0 && codes->data()[i] < n_codes;
  require(inside, "a code names a task or class that is not there");
}

nb::tuple outcome(const PassResult& r) { return nb::make_tuple(r.n_mistakes, r.diverged, r.paused); }

template <class F, class... Extra>
void def(nb::handle in, const char* name, F f, const Extra&... extra) {
  nb::cpp_function_def(f, nb::scope(in), nb::name(name), extra...);
}

}  // namespace

void bind_fields(nb::handle in, FieldsOf fields) {
  def(in, "fields", [fields](nb::dict params) {
    nb::list out;
    for (const Field& f : fields(PySource(nb::dict(), std::move(params), 0)))
      out.append(nb::make_tuple(f.name, f.axes, f.initial, f.merge, f.by, f.beside, f.lazy, f.domain, f.at_most));
    return out;
  }, nb::arg("params"));
}

void bind_hooks(nb::handle in, Maker<AnyLearner> make) {
  const auto hook = [&](const char* name, void (AnyLearner::*act)()) {
    def(in, name, [make, act](nb::dict state, nb::dict params, index_t n_weights) {
      const PySource source(std::move(state), std::move(params), n_weights);
      (*make(source).*act)();
    }, nb::arg("state"), nb::arg("params"), nb::arg("n_weights"));
  };
  hook("finish", &AnyLearner::finish);
  hook("settle", &AnyLearner::settle);
  hook("rebuild", &AnyLearner::rebuild);
}

void bind_single(nb::handle in, Maker<AnySingle> make, bool has_spread, bool has_evidence, bool has_lanes) {
  def(in, "run_pass",
      [make](const Rows& rows, double bias, const In<double>& y, std::optional<double> positive,
             const std::optional<In<double>>& weight, const std::optional<In<index_t>>& order, nb::dict state, nb::dict params,
             const std::optional<Strided>& margins, index_t begin, const std::optional<In<double>>& other_rows,
             const std::optional<In<index_t>>& other_at, const std::optional<Out<double>>& other_scores, bool count_scores) {
    Unchecked* const rest = rows.rest();
    require(static_cast<index_t>(y.shape(0)) == rows.n_rows, "y and the rows differ in length");
    require(!weight || weight->shape(0) == y.shape(0), "weights and rows differ in length");
    const Lesson lesson{y.data(),
                        weight ? weight->data() : nullptr,
                        order ? order->data() : nullptr,
                        begin,
                        order ? static_cast<index_t>(order->shape(0)) : rows.n_rows,
                        positive.has_value(),
                        positive.value_or(1),
                        rest};
    require(begin >= 0, "begin must not be negative");
    if (order) check_order(lesson.order, lesson.n_steps, rows.n_rows);
    require(!margins || static_cast<index_t>(margins->shape(0)) == lesson.n_steps, "margins and steps differ in length");
    const OtherForm other = other_form(other_rows, other_at, other_scores, rows.n_features, lesson.n_steps, 1);
    const PySource source(std::move(state), std::move(params), rows.n_features + 1);
    Tally& tally = *reinterpret_cast<Tally*>(source.array("tally", "tally"));
    ScoreCounts counts = ScorePlaces(source, count_scores, 1).counts();
    const auto learner = make(source);
    PassResult r;
    {
      nb::gil_scoped_release nogil;
      r = learner->run(rows.any, bias, lesson, tally, margins ? margins->data() : nullptr, margins ? margins->stride(0) : 0,
                       other, counts ? &counts : nullptr);
    }
    return outcome(r);
  },
      nb::arg("rows"), nb::arg("bias"), nb::arg("y"), nb::arg("positive").none(), nb::arg("weight").none(),
      nb::arg("order").none(), nb::arg("state"), nb::arg("params"), nb::arg("margins").noconvert().none(), nb::arg("begin") = 0,
      nb::arg("other_rows").none() = nb::none(), nb::arg("other_at").none() = nb::none(),
      nb::arg("other_scores").noconvert().none() = nb::none(), nb::arg("count_scores") = false);

  if (has_lanes)
    def(in, "several", [make](const nb::list& states, const nb::list& params, index_t n_weights, index_t n_to_come) {
      return Several(make, states, params, n_weights, n_to_come);
    }, nb::arg("states"), nb::arg("params"), nb::arg("n_weights"), nb::arg("n_to_come"));

  def(in, "row_models",
      [make](const nb::list& states, const nb::list& params, index_t n_weights, double bias, index_t reads,
             std::optional<double> until, bool counts_scores, std::optional<std::tuple<double, double>> measured) {
    return RowModels(make, states, params, n_weights, bias, reads, until, counts_scores, measured);
  },
      nb::arg("states"), nb::arg("params"), nb::arg("n_weights"), nb::arg("bias"), nb::arg("reads"), nb::arg("until").none(),
      nb::arg("counts_scores"), nb::arg("measured").none());

  def(in, "scores", [make](const Rows& rows, double bias, nb::dict state, nb::dict params, const Strided& out) {
    Unchecked* const rest = rows.rest();
    require(static_cast<index_t>(out.shape(0)) == rows.n_rows, "out and the rows differ in length");
    const PySource source(std::move(state), std::move(params), rows.n_features + 1);
    const auto learner = make(source);
    nb::gil_scoped_release nogil;
    learner->scores(rows.any, bias, out.data(), out.stride(0), rest);
  }, nb::arg("rows"), nb::arg("bias"), nb::arg("state"), nb::arg("params"), nb::arg("out").noconvert());
  if (has_spread)
    def(in, "spreads", [make](const Rows& rows, double bias, nb::dict state, nb::dict params, const Strided& out) {
      rows.check();
      require(static_cast<index_t>(out.shape(0)) == rows.n_rows, "out and the rows differ in length");
      const PySource source(std::move(state), std::move(params), rows.n_features + 1);
      const auto learner = make(source);
      nb::gil_scoped_release nogil;
      learner->spreads(rows.any, bias, out.data(), out.stride(0));
    }, nb::arg("rows"), nb::arg("bias"), nb::arg("state"), nb::arg("params"), nb::arg("out").noconvert());

  def(in, "weights", [make](nb::dict state, nb::dict params, const Out<double>& out) {
    const PySource source(std::move(state), std::move(params), static_cast<index_t>(out.shape(0)));
    const auto learner = make(source);
    nb::gil_scoped_release nogil;
    learner->weights(out.data(), source.n_weights);
  }, nb::arg("state"), nb::arg("params"), nb::arg("out").noconvert());
  // Whether all weights are finite, and whether any except the constant's is not 0, without a copy of them.
  def(in, "survey", [make](nb::dict state, nb::dict params, index_t n_weights) {
    require(n_weights > 0, "there must be a weight of the constant");
    const PySource source(std::move(state), std::move(params), n_weights);
    const auto learner = make(source);
    Survey found;
    {
      nb::gil_scoped_release nogil;
      found = learner->survey(n_weights);
    }
    return nb::make_tuple(found.finite, found.in_use);
  }, nb::arg("state"), nb::arg("params"), nb::arg("n_weights"));
  if (has_evidence)
    def(in, "evidence", [make](nb::dict state, nb::dict params, const Out<double>& out) {
      const PySource source(std::move(state), std::move(params), static_cast<index_t>(out.shape(0)) + 1);
      const auto learner = make(source);
      nb::gil_scoped_release nogil;
      learner->evidence(out.data(), source.n_weights - 1);
    }, nb::arg("state"), nb::arg("params"), nb::arg("out").noconvert());
}

void bind_matrix(nb::handle in, Maker<AnyMatrix> make) {
  def(in, "run_pass",
      [make](const Rows& rows, double bias, const In<double>& y, index_t n_codes, const std::optional<In<index_t>>& codes,
             const std::optional<In<double>>& rounds, const std::optional<In<double>>& weight,
             const std::optional<In<index_t>>& order, nb::dict state, nb::dict params, const std::optional<Out<double>>& margins,
             index_t begin, const std::optional<In<double>>& other_rows, const std::optional<In<index_t>>& other_at,
             const std::optional<Out<double>>& other_scores, bool count_scores) {
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
    const auto learner = make(source);
    const index_t width = learner->width();
    require(!learner->codes_are_outputs() || (n_codes > 1 && n_codes == width), "there must be an output for every class");
    require(!margins || static_cast<index_t>(margins->shape(0)) == lesson.n_steps * width, "margins and steps differ in length");
    const OtherForm other = other_form(other_rows, other_at, other_scores, rows.n_features, lesson.n_steps, width);
    std::vector<double> out(static_cast<std::size_t>(2 * width));
    ScoreCounts counts = ScorePlaces(source, count_scores, width).counts();
    PassResult r;
    {
      nb::gil_scoped_release nogil;
      r = learner->run(rows.any, bias, lesson, tally, out.data(), margins ? margins->data() : nullptr, other,
                       counts ? &counts : nullptr);
    }
    return outcome(r);
  },
      nb::arg("rows"), nb::arg("bias"), nb::arg("y"), nb::arg("n_codes"), nb::arg("codes").none(), nb::arg("rounds").none(),
      nb::arg("weight").none(), nb::arg("order").none(), nb::arg("state"), nb::arg("params"),
      nb::arg("margins").noconvert().none(), nb::arg("begin") = 0, nb::arg("other_rows").none() = nb::none(),
      nb::arg("other_at").none() = nb::none(), nb::arg("other_scores").noconvert().none() = nb::none(),
      nb::arg("count_scores") = false);

  def(in, "scores",
      [make](const Rows& rows, double bias, index_t n_codes, const std::optional<In<index_t>>& codes, nb::dict state,
             nb::dict params, const Out<double>& out) {
    rows.check();
    check_codes(codes, n_codes, rows.n_rows);
    const PySource source(std::move(state), std::move(params), rows.n_features + 1);
    const auto learner = make(source);
    require(static_cast<index_t>(out.shape(0)) == rows.n_rows * learner->width(), "out and the rows differ in length");
    nb::gil_scoped_release nogil;
    learner->scores(rows.any, bias, codes ? codes->data() : nullptr, out.data());
  },
      nb::arg("rows"), nb::arg("bias"), nb::arg("n_codes"), nb::arg("codes").none(), nb::arg("state"), nb::arg("params"),
      nb::arg("out").noconvert());

  // The weights of all features, with those of one feature for all outputs adjacent.
  def(in, "weights", [make](nb::dict state, nb::dict params, index_t n_weights, const Out<double>& out) {
    require(n_weights > 0 && static_cast<index_t>(out.shape(0)) % n_weights == 0, "out must have places for every weight");
    const index_t n_outputs = static_cast<index_t>(out.shape(0)) / n_weights;
    const PySource source(std::move(state), std::move(params), n_weights);
    const auto learner = make(source);
    require(n_outputs == source.extent(learner->outputs()), "out must have a place for every output");
    nb::gil_scoped_release nogil;
    learner->weights(out.data(), n_weights, n_outputs);
  }, nb::arg("state"), nb::arg("params"), nb::arg("n_weights"), nb::arg("out").noconvert());
}

}  // namespace thresher
