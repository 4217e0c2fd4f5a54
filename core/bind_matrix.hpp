// Binding of learners of coupled outputs, as in bind.hpp, and the function that binds any learner.
#pragma once
#include "bind.hpp"
#include "matrix_pass.hpp"

namespace thresher {

/// Whether the code of a row must be the index of an output. Other learners may have codes of their own for tasks and classes.
template <class L, class = void> struct CodesAreOutputs : std::false_type {};
template <class L> struct CodesAreOutputs<L, std::void_t<decltype(L::codes_are_outputs)>> : std::true_type {};

/// A learner of coupled outputs.
struct AnyMatrix : AnyLearner {
  virtual index_t width() const = 0;
  virtual bool codes_are_outputs() const = 0;
  virtual const char* outputs() const = 0;
  virtual PassResult run(const AnyRows& rows, double bias, const MatrixLesson& lesson, Tally& tally, double* out, double* margins,
                         const OtherForm& other, ScoreCounts* counts) = 0;
  virtual void scores(const AnyRows& rows, double bias, const index_t* codes, double* out) = 0;
  virtual void weights(double* out, index_t n, index_t n_outputs) = 0;
};

template <class L>
struct MatrixOf final : LearnerOf<L, AnyMatrix> {
  using LearnerOf<L, AnyMatrix>::LearnerOf;
  using LearnerOf<L, AnyMatrix>::learner;
  using LearnerOf<L, AnyMatrix>::loops;
  using LearnerOf<L, AnyMatrix>::read;

  index_t width() const override { return learner.width(); }
  bool codes_are_outputs() const override { return CodesAreOutputs<L>::value; }
  const char* outputs() const override { return L::outputs; }
  PassResult run(const AnyRows& rows, double bias, const MatrixLesson& lesson, Tally& tally, double* out, double* margins,
                 const OtherForm& other, ScoreCounts* counts) override {
    auto& own = loops();
    return std::visit([&](const auto& x) { return run_matrix_pass(own, x, bias, lesson, tally, out, margins, other, counts); },
                      rows);
  }
  void scores(const AnyRows& rows, double bias, const index_t* codes, double* out) override {
    read();
    auto& own = loops();
    std::visit([&](const auto& x) { run_matrix_scores(own, x, bias, codes, out); }, rows);
  }
  void weights(double* out, index_t n, index_t n_outputs) override {
    read();
    Watch watch;
    for (index_t j = 0; j < n; ++j) {
      watch.tick();
      learner.weights(j, out + j * n_outputs);
    }
  }
};

/// In bind_passes.cpp.
void bind_matrix(nb::handle in, Maker<AnyMatrix> make);

template <class L>
void bind_matrix_learner(nb::module_& m, const char* name, const char* what) {
  bind_matrix(bind_common<L, MatrixOf<L>>(m, name, what), &made_of<MatrixOf<L>, AnyMatrix>);
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
