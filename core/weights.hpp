// The sums of a learner, to which additions count at once or after a whole mini-batch. With `average`, each sum has an offset
// that accumulates lived * change, where `lived` is the weight of all earlier iterates. It gives the mean over all steps (see
// Pegasos). Lazy weights store their own step and need less: AtOnce and Waiting, at the end.
#pragma once
#include "learner.hpp"

namespace thresher {

/// Additions count at once, as in mini-batches of one row.
struct Direct {
  static constexpr bool waits = false;
  double *value, *offset;
  static constexpr double batch_size = 1;

  static void declare(std::vector<Field>& fields, const char* name, const char* merge, bool average) {
    fields.push_back({name, "weight", 0.0, merge});
    if (average) fields.push_back({"offset", "weight", 0.0, "sum"});
  }
  template <class Source>
  Direct(const Source& s, const char* name, bool average)
      : value(s.array(name, "weight")), offset(average ? s.array("offset", "weight") : nullptr) {}

  double operator[](index_t j) const { return value[j]; }
  double offset_at(index_t j) const { return offset[j]; }
  bool averages() const { return offset; }
  double held(index_t) const { return 0; }
  double held_offset(index_t) const { return 0; }
  void add(index_t j, double change, double lived) {
    value[j] += change;
    if (offset) offset[j] += lived * change;
  }
  void put(index_t j, double to, double lived) {
    if (offset) offset[j] -= lived * value[j];
    value[j] = to;
  }
  bool row_completes_batch() { return true; }
  double n_unfinished() const { return 0; }
  void next_batch() {}
  void scale_held(double) {}
  void settle() {}
};

/// The same with each sum stored beside its offset, for learners that read both for every row.
struct Averaged {
  static constexpr bool waits = false;
  struct Sum { double value, offset; };
  Sum* sums;
  static constexpr double batch_size = 1;

  static void declare(std::vector<Field>& fields, const char* name, const char* merge, bool) {
    fields.push_back({name, "weight", 0.0, merge});
    fields.push_back({"offset", "weight", 0.0, "sum", "", name});
  }
  template <class Source>
  Averaged(const Source& s, const char* name, bool) : sums(reinterpret_cast<Sum*>(s.pair(name, "offset"))) {}

  double operator[](index_t j) const { return sums[j].value; }
  double offset_at(index_t j) const { return sums[j].offset; }
  Two both(index_t j) const { return Two::at(&sums[j].value); }
  static constexpr bool averages() { return true; }
  double held(index_t) const { return 0; }
  double held_offset(index_t) const { return 0; }
  void add(index_t j, double change, double lived) { (both(j) + Two(change, lived * change)).put(&sums[j].value); }
  void put(index_t j, double to, double lived) { sums[j] = {to, sums[j].offset - lived * sums[j].value}; }
  bool row_completes_batch() { return true; }
  double n_unfinished() const { return 0; }
  void next_batch() {}
  void scale_held(double) {}
  void settle() {}
};

/// Holds back what the rows of a mini-batch add until the batch is complete, so that all of them see the same weights.
///
/// `pending[j]` belongs to batch `stamp[j]`. It counts once that batch is over, and is folded into value[j] at the next addition.
/// A batch therefore costs O(non-zeros). An unfinished batch is part of the state and survives between calls.
struct HeldBack {
  static constexpr bool waits = true;
  double *value, *offset, *pending, *pending_offset, *stamp, *batch, *count;
  double* square = nullptr;  // or null: the sum over the batches of the square of what each added
  index_t n_weights;
  double batch_size;

  static void declare(std::vector<Field>& fields, const char* name, const char* merge, bool average) {
    Direct::declare(fields, name, merge, average);
    fields.push_back({"pending", "weight", 0.0, "derived"});
    if (average) fields.push_back({"pending_offset", "weight", 0.0, "derived"});
    fields.push_back({"stamp", "weight", 0.0, "derived"});
    fields.push_back({"batch", "", 0.0, "derived"});
    fields.push_back(Field{"count", "", 0.0, "derived", "", "", "rows"}.counts());
  }
  template <class Source>
  HeldBack(const Source& s, const char* name, bool average)
      : value(s.array(name, "weight")), offset(average ? s.array("offset", "weight") : nullptr),
        pending(s.array("pending", "weight")), pending_offset(average ? s.array("pending_offset", "weight") : nullptr),
        stamp(s.array("stamp", "weight")), batch(s.array("batch", "")), count(s.array("count", "")), n_weights(s.n_weights),
        batch_size(s.number("batch_size")) {}

  bool open(index_t j) const { return stamp[j] == *batch; }
  double operator[](index_t j) const { return open(j) ? value[j] : value[j] + pending[j]; }
  double offset_at(index_t j) const { return open(j) ? offset[j] : offset[j] + pending_offset[j]; }
  double square_at(index_t j) const { return open(j) ? square[j] : square[j] + pending[j] * pending[j]; }
  bool averages() const { return offset; }
  void put(index_t j, double to, double lived) {
    if (offset) offset[j] -= lived * value[j];
    value[j] = to;
  }
  /// What the open batch has added at j.
  double held(index_t j) const { return open(j) ? pending[j] : 0; }
  double held_offset(index_t j) const { return open(j) ? pending_offset[j] : 0; }
  void add(index_t j, double change, double lived) {
    if (!open(j)) {
      fold(j);
      stamp[j] = *batch;
    }
    pending[j] += change;
    if (offset) pending_offset[j] += lived * change;
  }
  bool row_completes_batch() { return ++*count >= batch_size; }
  double n_unfinished() const { return *count; }
  void next_batch() {
    *count = 0;
    ++*batch;
  }
  void scale_held(double factor) {
    for (index_t j = 0; j < n_weights; ++j)
      if (open(j)) {
        pending[j] *= factor;
        if (offset) pending_offset[j] *= factor;
      }
  }
  /// Folds in what complete batches added. The open batch must be finished first.
  void settle() {
    for (index_t j = 0; j < n_weights; ++j) {
      if (!open(j)) fold(j);
      stamp[j] = 0;
    }
    *batch = *count = 0;
  }

 private:
  void fold(index_t j) {
    value[j] += pending[j];
    if (square) square[j] += pending[j] * pending[j];
    pending[j] = 0;
    if (offset) {
      offset[j] += pending_offset[j];
      pending_offset[j] = 0;
    }
  }
};

/// For lazy weights in mini-batches of one row: nothing is held back.
struct AtOnce {
  static constexpr bool waits = false;
  static constexpr double batch_size = 1;

  static void declare(std::vector<Field>&) {}
  template <class Source>
  explicit AtOnce(const Source&) {}

  double operator[](index_t) const { return 0; }
  void add(index_t, double) {}
  void clear(index_t) {}
  static constexpr bool row_completes_batch() { return true; }
  static constexpr double n_unfinished() { return 0; }
  void next_batch() {}
  template <class Open>
  static constexpr bool finish(index_t, Open) {
    return false;
  }
};

/// Holds back what a mini-batch adds to lazy weights. If a weight is up to date with step s, its pending change belongs to step
/// s + 1. The batch is open while the learner has taken s steps, and over once it has taken more.
struct Waiting {
  static constexpr bool waits = true;
  double *pending, *count;
  double batch_size;

  static void declare(std::vector<Field>& fields) {
    fields.push_back({"pending", "weight", 0.0, "derived"});
    fields.push_back(Field{"count", "", 0.0, "derived", "", "", "rows"}.counts());
  }
  template <class Source>
  explicit Waiting(const Source& s)
      : pending(s.array("pending", "weight")), count(s.array("count", "")), batch_size(s.number("batch_size")) {}

  double operator[](index_t j) const { return pending[j]; }
  void add(index_t j, double change) { pending[j] += change; }
  void clear(index_t j) { pending[j] = 0; }
  bool row_completes_batch() { return ++*count >= batch_size; }
  double n_unfinished() const { return *count; }
  void next_batch() { *count = 0; }
  /// Completes the batch with the rows it has, for weights with open(j). Returns false if it has none.
  template <class Open>
  bool finish(index_t n_weights, Open open) {
    if (*count == 0) return false;
    for (index_t j = 0; j < n_weights; ++j)
      if (open(j)) pending[j] *= batch_size / *count;
    return true;
  }
};

}  // namespace thresher
