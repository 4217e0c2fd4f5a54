// Binding of learners to Python: arrays and parameters by name, with checks of their structure, and passes without the GIL.
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
#include <vector>

#include "bind_arrays.hpp"
#include "bind_one_row.hpp"
#include "learner.hpp"
#include "loss.hpp"
#include "pass.hpp"
#include "scan.hpp"

namespace thresher {

namespace nb = nanobind;

template <class T>
using Out = nb::ndarray<T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

inline void require(bool ok, const std::string& message) {
  if (!ok) throw std::invalid_argument(message);
}

/// Rows whose structure was checked. A pass rejects rows in which the check found a fault, so it never reads an unchecked index.
/// Values are checked as well, unless the caller leaves that to the first pass over all rows, where any NaN or infinity makes a
/// score non-finite.
/// Rows may also be left for the first pass to check as it comes to them; anything else that uses them checks them all.
struct Rows {
  AnyRows any;
  mutable Finding finding;
  index_t n_rows, n_features;
  nb::object values, columns = nb::none(), starts;  // keep the memory alive
  std::unique_ptr<Unchecked> unchecked = nullptr;

  const Finding& found() const {
    if (unchecked && !unchecked->is_over() && finding.fault == Fault::none) {
      finding = std::visit([](const auto& x) { return scan(x, x.n_values(), true); }, any);
      if (finding.fault == Fault::none) unchecked->end();
    }
    return finding;
  }
  /// What is still to be checked, by code that does so as it comes to a row; other code calls check().
  Unchecked* rest() const {
    if (!unchecked) check();
    return unchecked && !unchecked->is_over() ? unchecked.get() : nullptr;
  }
  void check() const { require(found().fault == Fault::none, refused); }
};

/// The state of one output and the parameters of its learner, as two dictionaries. In bind_source.cpp.
struct PySource {
  nb::dict state, params;
  index_t n_weights;
  mutable std::unique_ptr<Loss> owned_loss;

  PySource(nb::dict s, nb::dict p, index_t n);
  PySource(const PySource&) = delete;
  PySource& operator=(const PySource&) = delete;
  ~PySource();

  /// The index of the first weight of the constant feature; the weights of the other features come before it.
  index_t constant() const { return n_weights - 1; }
  double* array(const char* name, const char* axes) const;
  double* array(const char* name, index_t n) const;
  /// The number of entries over these axes; that of axis "group" is the parameter n_groups, and so on.
  index_t extent(std::string_view axes) const;
  /// Two vectors that lie beside each other: first[j] at 2 j, second[j] at 2 j + 1.
  double* pair(const char* first, const char* second, const char* axis = "weight") const;
  double number(const char* name) const;
  std::string text(const char* name) const;
  bool flag(const char* name) const;
  /// One number per weight (or group, ...), or null when the parameter is None.
  const double* vector(const char* name, const char* axis = "weight") const;
  /// A parameter that is an object of the core, checked when it was made.
  template <class T>
  const T& object(const char* name) const {
    return nb::cast<const T&>(get(params, name));
  }
  const Loss& loss() const;

 private:
  static nb::object get(const nb::dict& d, const char* name);
};

/// finish, settle, rebuild and read are optional: a learner without lazy or derived state does not define them.
template <class L, class = void> struct HasFinish : std::false_type {};
template <class L> struct HasFinish<L, std::void_t<decltype(&L::finish)>> : std::true_type {};
template <class L, class = void> struct HasSettle : std::false_type {};
template <class L> struct HasSettle<L, std::void_t<decltype(&L::settle)>> : std::true_type {};
template <class L, class = void> struct HasRebuild : std::false_type {};
template <class L> struct HasRebuild<L, std::void_t<decltype(&L::rebuild)>> : std::true_type {};
template <class L, class = void> struct HasRead : std::false_type {};
template <class L> struct HasRead<L, std::void_t<decltype(&L::read)>> : std::true_type {};
/// evidence(j) is optional, too: outputs that select features together rank them by it.
template <class L, class = void> struct HasEvidence : std::false_type {};
template <class L> struct HasEvidence<L, std::void_t<decltype(&L::evidence)>> : std::true_type {};
/// And so is spread(row, keep), the variance of a row's score.
template <class L, class = void> struct HasSpread : std::false_type {};
template <class L>
struct HasSpread<L, std::void_t<decltype(std::declval<const L&>().spread(std::declval<const DenseRow<double>&>(), AllFeatures()))>>
    : std::true_type {};

/// Whether one look at the state may tell that all weights are finite.
template <class L, class = void> struct KnowsFinite : std::false_type {};
template <class L>
struct KnowsFinite<L, std::void_t<decltype(std::declval<const L&>().surely_finite(index_t()))>> : std::true_type {};

/// Whether several outputs learn in one pass over the rows: see confidence_lanes.hpp.
template <class L, class = void> struct HasLanes : std::false_type {};
template <class L> struct HasLanes<L, std::void_t<typename L::Lanes>> : std::true_type {};

/// The type that the loops of a learner are compiled for: its own, or one that it shares with others.
template <class L>
auto loops_of(L& learner, int) -> typename L::Loops& {
  return learner;
}
template <class L>
L& loops_of(L& learner, long) {
  return learner;
}

inline void check_order(const index_t* order, index_t n_steps, index_t n_rows) {
  bool inside = true;
  for (index_t t = 0; t < n_steps; ++t) inside &= order[t] >= 0 && order[t] < n_rows;
  require(inside, "the order names a row that is not there");
}

/// Interface of all learners. Code that runs once per call is compiled once; only the loops know the type of the learner.
struct AnyLearner {
  AnyLearner() = default;
  AnyLearner(const AnyLearner&) = delete;
  AnyLearner& operator=(const AnyLearner&) = delete;
  virtual ~AnyLearner() = default;
  virtual void finish() = 0;
  virtual void settle() = 0;
  virtual void rebuild() = 0;
};

/// Whether all weights are finite, and whether any weight other than the constant's differs from 0.
struct Survey { bool finite = true, in_use = false; };

/// A learner of one output.
struct AnySingle : AnyLearner {
  virtual PassResult run(const AnyRows& rows, double bias, const Lesson& lesson, Tally& tally, double* margins, index_t stride,
                         const OtherForm& other, ScoreCounts* counts) = 0;
  virtual PassResult run(const OneRow& row, index_t width, double bias, const Lesson& lesson, Tally& tally,
                         ScoreCounts* counts) = 0;
  /// Lanes for learners of this type, or null.
  virtual std::unique_ptr<AnyLanes> lanes(const std::vector<AnySingle*>& learners, index_t n_weights) = 0;
  virtual double score(const OneRow& row, index_t width, double bias) = 0;
  virtual void scores(const AnyRows& rows, double bias, double* out, index_t stride, Unchecked* unchecked) = 0;
  virtual void spreads(const AnyRows& rows, double bias, double* out, index_t stride) = 0;
  virtual void weights(double* out, index_t n) = 0;
  virtual Survey survey(index_t n) = 0;
  virtual void evidence(double* out, index_t n) = 0;
};

/// The parts that learners of both kinds share, made from a source.
template <class L, class Base>
struct LearnerOf : Base {
  L learner;

  explicit LearnerOf(const PySource& s) : learner(s) {}
  void finish() override {
    if constexpr (HasFinish<L>::value) learner.finish();
  }
  void settle() override {
    if constexpr (HasSettle<L>::value) learner.settle();
  }
  void rebuild() override {
    if constexpr (HasRebuild<L>::value) learner.rebuild();
  }
  void read() {
    if constexpr (HasRead<L>::value) learner.read();
  }
  auto& loops() { return loops_of(learner, 0); }
};

template <class L>
struct SingleOf final : LearnerOf<L, AnySingle> {
  using LearnerOf<L, AnySingle>::LearnerOf;
  using LearnerOf<L, AnySingle>::learner;
  using LearnerOf<L, AnySingle>::loops;
  using LearnerOf<L, AnySingle>::read;

  PassResult run(const AnyRows& rows, double bias, const Lesson& lesson, Tally& tally, double* margins, index_t stride,
                 const OtherForm& other, ScoreCounts* counts) override {
    auto& own = loops();
    return std::visit([&](const auto& x) { return run_pass(own, x, bias, lesson, tally, margins, stride, other, counts); }, rows);
  }
  PassResult run(const OneRow& row, index_t width, double bias, const Lesson& lesson, Tally& tally,
                 ScoreCounts* counts) override {
    return run_pass(loops(), row.as_matrix(width), bias, lesson, tally, nullptr, 0, {}, counts);
  }
  std::unique_ptr<AnyLanes> lanes([[maybe_unused]] const std::vector<AnySingle*>& learners,
                                  [[maybe_unused]] index_t n_weights) override {
    if constexpr (HasLanes<L>::value) {
      std::vector<typename L::Lanes*> own;
      for (AnySingle* each : learners) own.push_back(&static_cast<SingleOf*>(each)->learner);
      return lanes_of(own, n_weights);
    }
    return nullptr;
  }
  double score(const OneRow& row, index_t width, double bias) override {
    read();
    return look(loops(), row.as_matrix(width).row(0, bias));
  }
  void scores(const AnyRows& rows, double bias, double* out, index_t stride, Unchecked* unchecked) override {
    read();
    auto& own = loops();
    std::visit([&](const auto& x) { run_scores(own, x, bias, out, stride, unchecked); }, rows);
  }
  void spreads([[maybe_unused]] const AnyRows& rows, [[maybe_unused]] double bias, [[maybe_unused]] double* out,
               [[maybe_unused]] index_t stride) override {
    read();
    if constexpr (HasSpread<L>::value) {
      auto& own = loops();
      std::visit([&](const auto& x) { run_spreads(own, x, bias, out, stride); }, rows);
    }
  }
  void weights(double* out, index_t n) override {
    read();
    Watch watch;
    for (index_t j = 0; j < n; ++j) {
      watch.tick();
      out[j] = learner.weight(j);
    }
  }
  Survey survey(index_t n) override {
    read();
    Watch watch;
    double trace[4] = {0, 0, 0, 0};  // 0, or NaN
    bool in_use = false;
    const auto see = [&](index_t j, int i) {
      const double w = learner.weight(j);
      trace[i] += w - w;
      return w != 0;
    };
    const index_t constant = n - 1;
    if constexpr (KnowsFinite<L>::value)
      if (learner.surely_finite(n)) {
        for (index_t j = 0; j < constant && !in_use; ++j) in_use = learner.weight(j) != 0;
        return {true, in_use};
      }
    for (index_t begin = 0; begin < constant; begin += 4096) {
      watch.tick();
      const index_t end = std::min<index_t>(begin + 4096, constant);
      index_t j = begin;
      for (; j + 4 <= end; j += 4)
        for (int i = 0; i < 4; ++i) in_use |= see(j + i, i);
      for (; j < end; ++j) in_use |= see(j, 0);
    }
    see(constant, 0);
    return {(trace[0] + trace[1]) + (trace[2] + trace[3]) == 0, in_use};
  }
  void evidence([[maybe_unused]] double* out, [[maybe_unused]] index_t n) override {
    if constexpr (HasEvidence<L>::value)
      for (index_t j = 0; j < n; ++j) out[j] = learner.evidence(j);
  }
};

/// Makes a learner from a source; the functions bound below differ only in this.
template <class Base>
using Maker = std::unique_ptr<Base> (*)(const PySource& s);
template <class Made, class Base>
std::unique_ptr<Base> made_of(const PySource& s) {
  return std::make_unique<Made>(s);
}
using FieldsOf = std::vector<Field> (*)(const PySource& s);

/// In bind_passes.cpp: the functions of both kinds of learners, and those of learners of one output.
void bind_fields(nb::handle in, FieldsOf fields);
void bind_hooks(nb::handle in, Maker<AnyLearner> make);
void bind_single(nb::handle in, Maker<AnySingle> make, bool has_spread, bool has_evidence, bool has_lanes);

/// Methods other than passes that learners of both kinds have.
template <class L, class Made>
nb::class_<L> bind_common(nb::module_& m, const char* name, const char* what) {
  nb::class_<L> c(m, name, what);
  bind_fields(c, [](const PySource& s) { return L::fields(s); });
  bind_hooks(c, &made_of<Made, AnyLearner>);
  return c;
}

template <class L>
void bind_learner(nb::module_& m, const char* name, const char* what) {
  bind_single(bind_common<L, SingleOf<L>>(m, name, what), &made_of<SingleOf<L>, AnySingle>, HasSpread<L>::value,
              HasEvidence<L>::value, HasLanes<L>::value);
}

}  // namespace thresher
