// The weights of coupled outputs, one row per feature, to which additions count at once or after a whole mini-batch.
#pragma once
#include "learner.hpp"

namespace thresher {

/// Additions count at once, as in mini-batches of one row.
struct RowsAtOnce {
  static constexpr bool waits = false;
  double* coef;
  index_t n_outputs, n_weights;

  static void declare(std::vector<Field>&) {}
  template <class Source>
  explicit RowsAtOnce(const Source& s)
      : coef(s.array("coef", "weight output")), n_outputs(s.extent("output")), n_weights(s.n_weights) {}

  double* row(index_t j) const { return coef + j * n_outputs; }
  double at(index_t j, index_t k) const { return row(j)[k]; }
  double size() const { return 1; }
  bool open(index_t) const { return false; }
  void fold(index_t) {}
  void settle() {}
};

/// Additions count once their mini-batch is over, as with HeldBack.
struct RowsHeldBack : RowsAtOnce {
  static constexpr bool waits = true;
  double *pending, *stamp, *batch, *count, *n_rows;
  double batch_size;

  static void declare(std::vector<Field>& fields) {
    fields.push_back(Field{"n_rows", "", 0.0, "sum"}.counts());
    fields.push_back({"pending", "weight output", 0.0, "derived"});
    fields.push_back({"stamp", "weight", 0.0, "derived"});
    for (const char* name : {"batch", "held_dot", "held_square", "common_held_dot", "common_held_square"})
      fields.push_back({name, "", 0.0, "derived"});
    fields.push_back(Field{"count", "", 0.0, "derived", "", "", "rows"}.counts());
  }
  template <class Source>
  explicit RowsHeldBack(const Source& s)
      : RowsAtOnce(s), pending(s.array("pending", "weight output")), stamp(s.array("stamp", "weight")),
        batch(s.array("batch", "")), count(s.array("count", "")), n_rows(s.array("n_rows", "")),
        batch_size(s.number("batch_size")) {}

  double* held(index_t j) const { return pending + j * n_outputs; }
  double at(index_t j, index_t k) const { return open(j) ? row(j)[k] : row(j)[k] + held(j)[k]; }
  double size() const { return batch_size; }
  bool open(index_t j) const { return stamp[j] == *batch; }
  void fold(index_t j) {
    for (index_t k = 0; k < n_outputs; ++k) {
      row(j)[k] += held(j)[k];
      held(j)[k] = 0;
    }
  }
  /// The pending row of the open batch, after folding in an earlier batch.
  double* opened(index_t j) {
    if (!open(j)) fold(j);
    stamp[j] = *batch;
    return held(j);
  }
  void next_batch() {
    *count = 0;
    ++*batch;
  }
  void settle() {
    for (index_t j = 0; j < n_weights; ++j) {
      fold(j);
      stamp[j] = 0;
    }
    *batch = *count = 0;
  }
};

}  // namespace thresher
