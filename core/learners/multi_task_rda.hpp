#pragma once
#include "../loss.hpp"
#include "../row_penalty.hpp"
#include "../rounds.hpp"

namespace thresher {

/// Dual averaging for tasks that share features. After t rounds, with gradient sums S and n_q rows of task q,
///
///     W = argmin_W  <G, W> + alpha sum_j |W_j| + (1 / (eta0 sqrt(t))) |W|^2 / 2        G_jq = S_jq / n_q
///
/// where |W_j| is the penalty of row j (see row_penalty.hpp); row by row  W_j = -eta0 sqrt(t) prox(G_j). Only S is stored. The
/// number that the prox needs of a row is computed when a round first reads the row. It is kept for the round, since tasks write
/// to S meanwhile. Besides it, a task reads only its own column, to which no other task writes. A row costs O(n_tasks) per
/// non-zero, O(1) with "l1". Dividing by n_q instead of t keeps rarely seen tasks from being penalised t / n_q times too much.
/// The constant has no penalty.   Yang (2011), eqs. 4.8, 4.11-4.14.
struct MultiTaskRda : Plain {
  static constexpr const char* outputs = "task";  // the axis of its outputs
  Rounds rounds;
  RowPenalty penalty;
  /// The number that the prox needs of a row, and the round for which it was computed.
  struct Kept { double number, round; };
  double* gradient_sum;
  Kept* kept;
  double alpha, eta0, l1_weight;
  const double* l1_weights;
  index_t constant;
  const Loss& criterion;
  mutable std::vector<double> parts;  // 1 / n_q, so that a row of data divides once per task, not per non-zero

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    std::vector<Field> all{{"gradient_sum", "weight task", 0.0, "sum"},
                           {"kept", "weight", 0.0, "derived"},
                           {"stamp", "weight", 0.0, "derived", "", "kept"}};
    Rounds::declare(all);
    return all;
  }
  template <class Source>
  explicit MultiTaskRda(const Source& s)
      : rounds(s), penalty(s.text("penalty"), s.number("p")), gradient_sum(s.array("gradient_sum", "weight task")),
        kept(reinterpret_cast<Kept*>(s.pair("kept", "stamp"))), alpha(s.number("alpha")), eta0(s.number("eta0")),
        l1_weight(s.number("l1_weight")), l1_weights(s.vector("l1_weights")), constant(s.n_weights - 1), criterion(s.loss()),
        parts(static_cast<std::size_t>(rounds.n_tasks)) {}

  index_t width() const { return 1; }
  void open(const Item& item) {
    if (rounds.ends_before(item)) rounds.close();
  }

  /// Uses the weights at the start of the round, which item's task has not joined yet.
  template <class Row>
  THRESHER_APART void score(const Row& x, const Item& item, double* out) {
    const double part = 1 / rounds.seen_before(item.code);
    if (!penalty.is_plain())
      for (index_t q = 0; q < rounds.n_tasks; ++q) parts[q] = 1 / rounds.seen_before(q);
    x.each([&](index_t j, double) {  // the rows of all tasks exceed the nearest caches
      prefetch_line(gradient_sum + j * rounds.n_tasks);
      prefetch_line(kept + j);
    }, nothing);
    if (!penalty.is_plain())
      x.each([&](index_t j, double xj) {
        if (xj != 0) keep(j, rounds.number());
      }, nothing);
    const double sum = x.sum([&](index_t j, double xj) { return xj == 0 ? 0 : now(j, item.code, part) * xj; }, nothing);
    *out = -step(*rounds.n_rounds) * (sum + x.bias * (part * at(constant, item.code)));
  }
  template <class Row>
  THRESHER_APART void look(const Row& x, const Item& item, double* out) const {
    divide();
    const double sum = x.sum([&](index_t j, double xj) { return xj == 0 ? 0 : shrunk(j, item.code) * xj; }, nothing);
    *out = -step(rounds.n_with_open()) * (sum + x.bias * mean(constant, item.code));
  }
  void weights(index_t j, double* out) const {
    divide();
    const double number = j == constant ? 0 : of_row(j), scale = -step(rounds.n_with_open());
    for (index_t q = 0; q < rounds.n_tasks; ++q)
      out[q] = scale * (j == constant ? mean(j, q) : penalty.entry(mean(j, q), number, alpha, l1_of(j)));
  }
  double loss(const double* out, const Item& item) const { return criterion.value(*out, item.y); }
  bool wrong(const double* out, const Item& item) const { return (*out > 0) != (item.y > 0); }

  template <class Row>
  bool update(const Row& x, const Item& item, const double* out) {
    rounds.join(item);
    const double slope =
        criterion.step(*out, item.y, item.weight, [&] { return step(rounds.number()) / rounds.seen(item.code) * x.square(); });
    if (slope != 0) x.each([&](index_t j, double xj) { at(j, item.code) += slope * xj; });
    if (rounds.ends_after(item)) rounds.close();
    return slope != 0;
  }
  void finish() {
    if (*rounds.is_open != 0) rounds.close();
  }
  void settle() { finish(); }

 private:
  double& at(index_t j, index_t q) const { return gradient_sum[j * rounds.n_tasks + q]; }
  double step(double t) const { return eta0 * std::sqrt(t); }
  double l1_of(index_t j) const { return l1_weights ? l1_weights[j] : l1_weight; }

  /// Sets `parts` as if the open round were complete.
  void divide() const {
    for (index_t q = 0; q < rounds.n_tasks; ++q) parts[q] = 1 / rounds.seen(q);
  }
  double mean(index_t j, index_t q) const { return parts[q] * at(j, q); }

  /// prox(G_j)_q at the start of the open round. Unless the penalty is plain, requires keep(j).
  double now(index_t j, index_t task, double part) const {
    return penalty.entry(part * at(j, task), kept[j].number, alpha, l1_of(j));
  }
  /// Computes and keeps the number of row j for this round. A task reads a row before it writes to it, so the first read of a
  /// round sees the sums of its start. A cheap number is computed in every read and then selected, since a branch would often
  /// be mispredicted.
  THRESHER_INLINE void keep(index_t j, double round) {
    const bool is_new = kept[j].round != round;
    if (penalty.goes_by_length()) kept[j] = {choose(is_new, of_row(j), kept[j].number), round};
    else if (is_new) kept[j] = {of_row(j), round};
  }
  THRESHER_INLINE double of_row(index_t j) const {
    const double *row = gradient_sum + j * rounds.n_tasks, *part = parts.data();
    return penalty.of_row([=](index_t q) { return part[q] * row[q]; }, rounds.n_tasks, alpha, l1_of(j));
  }
  double shrunk(index_t j, index_t task) const { return penalty.entry(mean(j, task), of_row(j), alpha, l1_of(j)); }
};

THRESHER_LEARNER(MultiTaskRda, "Dual averaging for tasks that share features.", MultiTaskRda)

}  // namespace thresher
