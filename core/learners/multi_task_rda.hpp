#pragma once
#include "../loss.hpp"
#include "../row_penalty.hpp"
#include "../rounds.hpp"

namespace thresher {

/// Dual averaging for tasks that share features. After t rounds, with gradient sums S and n_q rows of task q,
///
///     W = argmin_W  <G, W> + alpha sum_j |W_j| + (1 / (eta0 sqrt(t))) |W|^2 / 2        G_jq = S_jq / n_q
///
/// where |W_j| is the penalty of row j (see row_penalty.hpp); row by row  W_j = -eta0 sqrt(t) prox(G_j). Only S is stored. What the
/// prox needs of a row is computed when a round first asks for it and kept for the round, because its tasks write to S at the same time: a
/// task reads only its own column, which no other task writes to. A row costs O(n_tasks) for each of its non-zeros, O(1) with "l1".
/// Dividing by n_q instead of t keeps tasks that are seen rarely from being over-penalised (t / n_q times).
/// The constant has no penalty.   Yang (2011), eqs. 4.8, 4.11-4.14.
struct MultiTaskRda : Plain {
  static constexpr const char* outputs = "task";  // the axis of its outputs
  Rounds rounds;
  RowPenalty penalty;
  double *gradient_sum, *kept, *stamp;  // what the prox needs of a row, and the round it was computed for
  double alpha, eta0, l1_weight;
  const double* l1_weights;
  index_t constant;
  const Loss& criterion;

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    std::vector<Field> all{
        {"gradient_sum", "weight task", 0.0, "sum"}, {"kept", "weight", 0.0, "derived"}, {"stamp", "weight", 0.0, "derived"}};
    Rounds::declare(all);
    return all;
  }
  template <class Source>
  explicit MultiTaskRda(const Source& s)
      : rounds(s), penalty(s.text("penalty"), s.number("p")), gradient_sum(s.array("gradient_sum", "weight task")),
        kept(s.array("kept", "weight")), stamp(s.array("stamp", "weight")), alpha(s.number("alpha")), eta0(s.number("eta0")),
        l1_weight(s.number("l1_weight")), l1_weights(s.vector("l1_weights")), constant(s.n_weights - 1), criterion(s.loss()) {}

  index_t width() const { return 1; }
  void open(const Item& item) {
    if (rounds.ends_before(item)) rounds.close();
  }

  /// With the weights of the round's start; item's task has not joined it yet.
  template <class Row>
  void score(const Row& x, const Item& item, double* out) {
    const double n = rounds.seen_before(item.code);
    const double sum = x.sum([&](index_t j, double xj) { return xj == 0 ? 0 : now(j, item.code, n) * xj; }, nothing);
    *out = -step(*rounds.n_rounds) * (sum + x.bias * at(constant, item.code) / n);
  }
  template <class Row>
  void look(const Row& x, const Item& item, double* out) const {
    const double n = rounds.seen(item.code);
    const double sum = x.sum([&](index_t j, double xj) { return xj == 0 ? 0 : shrunk(j, item.code) * xj; }, nothing);
    *out = -step(rounds.n_with_open()) * (sum + x.bias * at(constant, item.code) / n);
  }
  void weights(index_t j, double* out) const {
    const double of_row = j == constant ? 0 : of_row_read(j), scale = -step(rounds.n_with_open());
    for (index_t q = 0; q < rounds.n_tasks; ++q) {
      const double mean = at(j, q) / rounds.seen(q);
      out[q] = scale * (j == constant ? mean : penalty.entry(mean, of_row, alpha, l1_of(j)));
    }
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

  /// prox(G_j)_q at the start of the open round.
  double now(index_t j, index_t task, double n) {
    if (penalty.is_plain()) return soft_threshold(at(j, task) / n, alpha);
    if (stamp[j] != rounds.number()) {  // nobody wrote to the row in this round
      const double* row = gradient_sum + j * rounds.n_tasks;
      kept[j] = penalty.of_row([&](index_t q) { return row[q] / rounds.seen_before(q); }, rounds.n_tasks, alpha, l1_of(j));
      stamp[j] = rounds.number();
    }
    return kept[j] > 0 ? penalty.entry(at(j, task) / n, kept[j], alpha, l1_of(j)) : 0;
  }
  double of_row_read(index_t j) const {
    const double* row = gradient_sum + j * rounds.n_tasks;
    return penalty.of_row([&](index_t q) { return row[q] / rounds.seen(q); }, rounds.n_tasks, alpha, l1_of(j));
  }
  double shrunk(index_t j, index_t task) const {
    return penalty.entry(at(j, task) / rounds.seen(task), of_row_read(j), alpha, l1_of(j));
  }
};

THRESHER_LEARNER(MultiTaskRda, "Dual averaging for tasks that share features.", MultiTaskRda)

}  // namespace thresher
