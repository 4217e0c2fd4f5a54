// How a learner meets Python: arrays and parameters by name, checked for structure, and the passes without the GIL.
#pragma once
#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>

#include <algorithm>
#include <memory>
#include <optional>
#include <stdexcept>
#include <string>
#include <string_view>
#include <utility>

#include "bind_one_row.hpp"
#include "learner.hpp"
#include "loss.hpp"
#include "pass.hpp"
#include "scan.hpp"

namespace thresher {

namespace nb = nanobind;

template <class T>
using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline void require(bool ok, const std::string& message) {
  if (!ok) throw std::invalid_argument(message);
}

/// Rows whose structure was checked. A pass refuses rows with a finding, so it never meets an unchecked index. Values are looked
/// at as well, unless the caller leaves that to the first pass over all rows: any NaN or infinity makes a score not finite there.
struct Rows {
  AnyRows any;
  Finding finding;
  index_t n_rows, n_features;
  nb::object values, columns = nb::none(), starts;  // keep the memory alive

  void check() const { require(finding.fault == Fault::none, "these rows were refused: see Rows.fault"); }
};

/// The state of one output and the parameters of its learner, as two dictionaries.
struct PySource {
  nb::dict state, params;
  index_t n_weights;
  mutable std::unique_ptr<Loss> owned_loss;

  PySource(nb::dict s, nb::dict p, index_t n) : state(std::move(s)), params(std::move(p)), n_weights(n) {}

  /// The place of the first weight of a constant feature; those of features come before it.
  index_t constant() const { return n_weights - 1; }
  double* array(const char* name, const char* axes) const { return array(name, extent(axes)); }
  double* array(const char* name, index_t n) const {
    Out<double> found;  // never a converted copy
    require(nb::try_cast(get(state, name), found, false),
            std::string("state array ") + name + " must be writable float64 in one piece");
    require(static_cast<index_t>(found.shape(0)) == n, std::string("state array ") + name + " has the wrong length");
    return found.data();
  }
  /// The number of entries over these axes; that of axis "group" is the parameter n_groups, and so on.
  index_t extent(std::string_view axes) const {
    index_t n = 1;
    while (!axes.empty()) {
      const std::string_view axis = axes.substr(0, axes.find(' '));
      axes.remove_prefix(std::min(axes.size(), axis.size() + 1));
      n *= axis == "weight" ? n_weights
         : axis == "tally"  ? 4
                            : static_cast<index_t>(number(("n_" + std::string(axis) + "s").c_str()));
    }
    return n;
  }
  /// Two vectors that lie beside each other: first[j] at 2 j, second[j] at 2 j + 1.
  double* pair(const char* first, const char* second, const char* axis = "weight") const {
    nb::ndarray<double, nb::ndim<1>, nb::device::cpu> a, b;
    const index_t n = extent(axis);
    require(nb::try_cast(get(state, first), a, false) && nb::try_cast(get(state, second), b, false) &&
                static_cast<index_t>(a.shape(0)) == n && static_cast<index_t>(b.shape(0)) == n &&
                (n == 1 || (a.stride(0) == 2 && b.stride(0) == 2)) && b.data() == a.data() + 1,
            std::string("state arrays ") + first + " and " + second + " must be writable float64, one per " + axis +
                ", side by side");
    return a.data();
  }
  double number(const char* name) const { return nb::cast<double>(get(params, name)); }
  std::string text(const char* name) const { return nb::cast<std::string>(get(params, name)); }
  bool flag(const char* name) const { return nb::cast<bool>(get(params, name)); }
  /// One number per weight (or group, ...), or null when the parameter is None.
  const double* vector(const char* name, const char* axis = "weight") const {
    const nb::object given = get(params, name);
    if (given.is_none()) return nullptr;
    In<double> found;  // never a converted copy
    require(nb::try_cast(given, found, false), std::string(name) + " must be float64 in one piece");
    require(static_cast<index_t>(found.shape(0)) == extent(axis), std::string(name) + " must have one entry per " + axis);
    return found.data();
  }
  /// A parameter that is an object of the core, checked when it was made.
  template <class T>
  const T& object(const char* name) const {
    return nb::cast<const T&>(get(params, name));
  }
  const Loss& loss() const {
    owned_loss = make_loss(nb::cast<std::string>(get(params, "loss")), number("tau"), number("epsilon"));
    if (params.contains("damping")) owned_loss->damping = number("damping");
    return *owned_loss;
  }

 private:
  static nb::object get(const nb::dict& d, const char* name) {
    nb::str key(name);
    require(d.contains(key), std::string("missing: ") + name);
    return nb::borrow(d[key]);
  }
};

/// finish, settle, rebuild and read are optional: a learner without lazy or derived state has none of them.
template <class L, class = void> struct HasFinish : std::false_type {};
template <class L> struct HasFinish<L, std::void_t<decltype(&L::finish)>> : std::true_type {};
template <class L, class = void> struct HasSettle : std::false_type {};
template <class L> struct HasSettle<L, std::void_t<decltype(&L::settle)>> : std::true_type {};
template <class L, class = void> struct HasRebuild : std::false_type {};
template <class L> struct HasRebuild<L, std::void_t<decltype(&L::rebuild)>> : std::true_type {};
template <class L, class = void> struct HasRead : std::false_type {};
template <class L> struct HasRead<L, std::void_t<decltype(&L::read)>> : std::true_type {};
/// So is evidence(j), by which outputs that select features together rank them,
template <class L, class = void> struct HasEvidence : std::false_type {};
template <class L> struct HasEvidence<L, std::void_t<decltype(&L::evidence)>> : std::true_type {};
/// and spread(row, keep), the variance of a row's score.
template <class L, class = void> struct HasSpread : std::false_type {};
template <class L>
struct HasSpread<L, std::void_t<decltype(std::declval<const L&>().spread(std::declval<const DenseRow<double>&>(), AllFeatures()))>>
    : std::true_type {};

inline void check_order(const index_t* order, index_t n_steps, index_t n_rows) {
  bool inside = true;
  for (index_t t = 0; t < n_steps; ++t) inside &= order[t] >= 0 && order[t] < n_rows;
  require(inside, "the order names a row that is not there");
}

/// Rows in another form, for n_steps steps with `width` scores each.
inline OtherForm other_form(const std::optional<In<double>>& rows, const std::optional<In<index_t>>& at,
                            std::optional<Out<double>>& scores, index_t n_features, index_t n_steps, index_t width) {
  if (!at) return {};
  require(rows && scores && static_cast<index_t>(at->shape(0)) == n_steps &&
              static_cast<index_t>(scores->shape(0)) == n_steps * width,
          "scores of another form and steps differ in length");
  bool inside = true;
  for (index_t t = 0; t < n_steps; ++t) inside &= at->data()[t] * n_features <= static_cast<index_t>(rows->shape(0)) - n_features;
  require(inside, "a step names another form that is not there");
  return {rows->data(), at->data(), scores->data()};
}

/// The scores that a state has counted for `n_outputs` outputs, or nothing if none are wanted.
inline ScoreCounts score_counts(const PySource& source, bool wanted, index_t n_outputs) {
  if (!wanted) return {};
  return {source.array("score_bins", 2 * ScoreBins::n * n_outputs), source.array("score_clock", ScoreCounts::n_clock),
          source.array("score_drift", ScoreCounts::n_drift), n_outputs};
}

template <class L>
nb::tuple run_pass_of(const Rows& rows, double bias, In<double> y, std::optional<double> positive,
                      std::optional<In<double>> weight, std::optional<In<index_t>> order, nb::dict state, nb::dict params,
                      std::optional<nb::ndarray<double, nb::ndim<1>, nb::device::cpu>> margins, index_t begin,
                      std::optional<In<double>> other_rows, std::optional<In<index_t>> other_at,
                      std::optional<Out<double>> other_scores, bool count_scores) {
  rows.check();
  require(static_cast<index_t>(y.shape(0)) == rows.n_rows, "y and the rows differ in length");
  require(!weight || weight->shape(0) == y.shape(0), "weights and rows differ in length");
  Lesson lesson{y.data(),
                weight ? weight->data() : nullptr,
                order ? order->data() : nullptr,
                begin,
                order ? static_cast<index_t>(order->shape(0)) : rows.n_rows,
                positive.has_value(),
                positive.value_or(1)};
  require(begin >= 0, "begin must not be negative");
  if (order) check_order(lesson.order, lesson.n_steps, rows.n_rows);
  require(!margins || static_cast<index_t>(margins->shape(0)) == lesson.n_steps, "margins and steps differ in length");
  const OtherForm other = other_form(other_rows, other_at, other_scores, rows.n_features, lesson.n_steps, 1);
  const PySource source(std::move(state), std::move(params), rows.n_features + 1);
  Tally& tally = *reinterpret_cast<Tally*>(source.array("tally", "tally"));
  ScoreCounts counts = score_counts(source, count_scores, 1);
  L learner(source);
  PassResult r;
  {
    nb::gil_scoped_release nogil;
    r = std::visit([&](const auto& x) {
      return run_pass(learner, x, bias, lesson, tally, margins ? margins->data() : nullptr, margins ? margins->stride(0) : 0,
                      other, counts ? &counts : nullptr);
    }, rows.any);
  }
  return nb::make_tuple(r.n_mistakes, r.diverged, r.paused);
}

/// What became of a row; any of these may be.
struct RowOutcome { static constexpr int wrong = 1, diverged = 2, paused = 4; };

/// A pass over the row that was read last. The GIL is kept: giving it away takes longer than most rows.
template <class L>
int learn_row_of(const RowReader& x, double bias, double y, double weight, nb::dict state, nb::dict params, bool count_scores) {
  const Lesson lesson{&y, &weight, nullptr, 0, 1, false, 1};
  const PySource source(std::move(state), std::move(params), x.width + 1);
  Tally& tally = *reinterpret_cast<Tally*>(source.array("tally", "tally"));
  double* const n_mistakes = source.array("n_mistakes", "");
  ScoreCounts counts = score_counts(source, count_scores, 1);
  L learner(source);
  const PassResult r =
      run_pass(learner, x.row.as_matrix(x.width), bias, lesson, tally, nullptr, 0, {}, counts ? &counts : nullptr);
  *n_mistakes += static_cast<double>(r.n_mistakes);
  return (r.n_mistakes > 0 ? RowOutcome::wrong : 0) | (r.diverged >= 0 ? RowOutcome::diverged : 0) |
         (r.paused >= 0 ? RowOutcome::paused : 0);
}

/// The score of the row that was read last.
template <class L>
double score_row_of(const RowReader& x, double bias, nb::dict state, nb::dict params) {
  const PySource source(std::move(state), std::move(params), x.width + 1);
  L learner(source);
  if constexpr (HasRead<L>::value) learner.read();
  return look(learner, x.row.as_matrix(x.width).row(0, bias));
}

template <class L>
void scores_of(const Rows& rows, double bias, nb::dict state, nb::dict params,
               nb::ndarray<double, nb::ndim<1>, nb::device::cpu> out) {
  rows.check();
  require(static_cast<index_t>(out.shape(0)) == rows.n_rows, "out and the rows differ in length");
  const PySource source(std::move(state), std::move(params), rows.n_features + 1);
  L learner(source);
  nb::gil_scoped_release nogil;
  if constexpr (HasRead<L>::value) learner.read();
  std::visit([&](const auto& x) { run_scores(learner, x, bias, out.data(), out.stride(0)); }, rows.any);
}

template <class L>
void spreads_of(const Rows& rows, double bias, nb::dict state, nb::dict params,
                nb::ndarray<double, nb::ndim<1>, nb::device::cpu> out) {
  rows.check();
  require(static_cast<index_t>(out.shape(0)) == rows.n_rows, "out and the rows differ in length");
  const PySource source(std::move(state), std::move(params), rows.n_features + 1);
  L learner(source);
  nb::gil_scoped_release nogil;
  if constexpr (HasRead<L>::value) learner.read();
  std::visit([&](const auto& x) { run_spreads(learner, x, bias, out.data(), out.stride(0)); }, rows.any);
}

template <class L>
void weights_of(nb::dict state, nb::dict params, Out<double> out) {
  const PySource source(std::move(state), std::move(params), static_cast<index_t>(out.shape(0)));
  L learner(source);
  nb::gil_scoped_release nogil;
  if constexpr (HasRead<L>::value) learner.read();
  Watch watch;
  for (index_t j = 0; j < source.n_weights; ++j) {
    watch.tick();
    out.data()[j] = learner.weight(j);
  }
}

template <class L>
void evidence_of(nb::dict state, nb::dict params, Out<double> out) {
  const PySource source(std::move(state), std::move(params), static_cast<index_t>(out.shape(0)) + 1);
  const L learner(source);
  nb::gil_scoped_release nogil;
  for (index_t j = 0; j + 1 < source.n_weights; ++j) out.data()[j] = learner.evidence(j);
}

/// What both kinds of learners offer beside their passes.
template <class L>
void bind_fields_and_hooks(nb::class_<L>& c) {
  c.def_static("fields", [](nb::dict params) {
    nb::list out;
    for (const Field& f : L::fields(PySource(nb::dict(), params, 0)))
      out.append(nb::make_tuple(f.name, f.axes, f.initial, f.merge, f.by, f.beside, f.lazy, f.domain, f.at_most));
    return out;
  }, nb::arg("params"));
  const auto hook = [&](const char* hook_name, auto act) {
    c.def_static(hook_name, [act](nb::dict state, nb::dict params, index_t n_weights) {
      const PySource source(std::move(state), std::move(params), n_weights);
      L learner(source);
      act(learner);
    }, nb::arg("state"), nb::arg("params"), nb::arg("n_weights"));
  };
  hook("finish", [](L& l) {
    if constexpr (HasFinish<L>::value) l.finish();
    else (void)l;
  });
  hook("settle", [](L& l) {
    if constexpr (HasSettle<L>::value) l.settle();
    else (void)l;
  });
  hook("rebuild", [](L& l) {
    if constexpr (HasRebuild<L>::value) l.rebuild();
    else (void)l;
  });
}

template <class L>
void bind_learner(nb::module_& m, const char* name, const char* what) {
  nb::class_<L> c(m, name, what);
  bind_fields_and_hooks(c);
  c.def_static("run_pass", &run_pass_of<L>, nb::arg("rows"), nb::arg("bias"), nb::arg("y"), nb::arg("positive").none(),
               nb::arg("weight").none(), nb::arg("order").none(), nb::arg("state"), nb::arg("params"),
               nb::arg("margins").noconvert().none(), nb::arg("begin") = 0, nb::arg("other_rows").none() = nb::none(),
               nb::arg("other_at").none() = nb::none(), nb::arg("other_scores").noconvert().none() = nb::none(),
               nb::arg("count_scores") = false);
  c.def_static("scores", &scores_of<L>, nb::arg("rows"), nb::arg("bias"), nb::arg("state"), nb::arg("params"),
               nb::arg("out").noconvert());
  c.def_static("learn_row", &learn_row_of<L>, nb::arg("x"), nb::arg("bias"), nb::arg("y"), nb::arg("weight"), nb::arg("state"),
               nb::arg("params"), nb::arg("count_scores"));
  c.def_static("score_row", &score_row_of<L>, nb::arg("x"), nb::arg("bias"), nb::arg("state"), nb::arg("params"));
  if constexpr (HasSpread<L>::value)
    c.def_static("spreads", &spreads_of<L>, nb::arg("rows"), nb::arg("bias"), nb::arg("state"), nb::arg("params"),
                 nb::arg("out").noconvert());
  c.def_static("weights", &weights_of<L>, nb::arg("state"), nb::arg("params"), nb::arg("out").noconvert());
  if constexpr (HasEvidence<L>::value)
    c.def_static("evidence", &evidence_of<L>, nb::arg("state"), nb::arg("params"), nb::arg("out").noconvert());
}

}  // namespace thresher
