#pragma once
#include "../loss.hpp"
#include "../row_penalty.hpp"
#include "../rounds.hpp"
#include "../strides.hpp"
#include "../watch.hpp"

namespace thresher {

/// Forward-backward splitting for tasks that share features. Round t, with gradients G of its rows and eta = eta0 / sqrt(t),
///
///     W <- argmin_W  |W - (W_t - eta G)|^2 / 2 + eta alpha sum_j |W_j|
///
/// (see row_penalty.hpp for |W_j|). The penalty of a row of W is applied lazily, when the row is needed. With "l1", "l21" and
/// "linf1", overdue steps are one prox of their summed strengths. With "l1_l21" and "lp1", they are taken one by one, and later
/// in strides, until the row is 0. `clock` is the sum of eta or the number of rounds, and `paid` is its value when a row was
/// last updated. A row of data costs O(n_tasks) per non-zero. The gradient of task q is multiplied by t / n_q, at most by `most`,
/// as if every round held the task. The constant has no penalty.   Yang (2011), eq. 4.10.
struct MultiTaskFobos : Plain {
  static constexpr const char* outputs = "task";  // the axis of its outputs
  static constexpr double most = 16;
  Rounds rounds;
  RowPenalty penalty;
  double *coef, *paid, *clock;
  double alpha, eta0, l1_weight;
  const double* l1_weights;
  index_t constant;
  const Loss& criterion;
  mutable std::vector<double> scratch;  // one row of W

  template <class Source>
  static std::vector<Field> fields(const Source&) {
    std::vector<Field> all{{"coef", "weight task", 0.0, "mean"},
                           Field{"paid", "weight", 0.0, "derived", "", "", "steps"}.non_negative("clock"),
                           Field{"clock", "", 0.0, "derived"}.non_negative()};
    Rounds::declare(all);
    return all;
  }
  template <class Source>
  explicit MultiTaskFobos(const Source& s)
      : rounds(s), penalty(s.text("penalty"), s.number("p")), coef(s.array("coef", "weight task")),
        paid(s.array("paid", "weight")), clock(s.array("clock", "")), alpha(s.number("alpha")), eta0(s.number("eta0")),
        l1_weight(s.number("l1_weight")), l1_weights(s.vector("l1_weights")), constant(s.n_weights - 1), criterion(s.loss()),
        scratch(static_cast<std::size_t>(rounds.n_tasks)) {}

  index_t width() const { return 1; }
  void open(const Item& item) {
    if (rounds.ends_before(item)) close();
  }
  template <class Row>
  THRESHER_APART void score(const Row& x, const Item& item, double* out) {
    x.each([&](index_t j, double) {  // the rows of all tasks exceed the nearest caches
      prefetch_line(row(j));
      prefetch_line(paid + j);
    }, nothing);
    x.each([&](index_t j, double xj) {
      if (xj != 0) catch_up(j);
    }, nothing);
    *out = x.sum([&](index_t j, double xj) { return row(j)[item.code] * xj; });
  }
  template <class Row>
  THRESHER_APART void look(const Row& x, const Item& item, double* out) const {
    *out = x.sum([&](index_t j, double xj) { return xj == 0 ? 0.0 : read(j)[item.code] * xj; });
  }
  void weights(index_t j, double* out) const {
    const double* w = read(j);
    std::copy(w, w + rounds.n_tasks, out);
  }
  double loss(const double* out, const Item& item) const { return criterion.value(*out, item.y); }
  bool wrong(const double* out, const Item& item) const { return (*out > 0) != (item.y > 0); }

  template <class Row>
  bool update(const Row& x, const Item& item, const double* out) {
    rounds.join(item);
    const double often = std::min(rounds.number() / rounds.n_seen[item.code], most);
    const double length = eta(rounds.number()) * often;
    const double move = length * criterion.step(*out, item.y, item.weight, [&] { return length * x.square(); });
    if (move != 0) x.each([&](index_t j, double xj) { row(j)[item.code] -= move * xj; });
    if (rounds.ends_after(item)) close();
    return move != 0;
  }
  void finish() {
    if (*rounds.is_open != 0) close();
  }
  void settle() {
    finish();
    Watch watch;
    for (index_t j = 0; j < constant; ++j) {
      watch.tick();
      catch_up(j);
    }
  }

 private:
  double* row(index_t j) const { return coef + j * rounds.n_tasks; }
  double eta(double t) const { return eta0 / std::sqrt(t); }
  double l1_of(index_t j) const { return l1_weights ? l1_weights[j] : l1_weight; }
  double tick() const { return penalty.composes() ? eta(rounds.number()) : 1; }
  void close() {
    *clock += tick();
    rounds.close();
  }
  /// Leaves a row that is up to date unchanged. This costs less than a branch, which would often be mispredicted.
  THRESHER_INLINE void catch_up(index_t j) {
    pay(j, row(j), *clock - paid[j], *rounds.n_rounds);
    paid[j] = *clock;
  }
  /// Applies the overdue steps of row j: `missed` is their sum of eta, or the number of rounds, the last of which is round t.
  THRESHER_INLINE void pay(index_t j, double* w, double missed, double t) const {
    if (penalty.composes()) {
      penalty.shrink(w, rounds.n_tasks, alpha * missed, l1_of(j));
    } else {
      const double from = std::max(0.0, t - missed), n = t - from;
      bool moved = true;
      for (double k = 0; k < n && moved;) {
        const double m = stride(k, n - k);
        moved = prox(j, w, length_of_steps(eta0, from + k, m));
        k += m;
      }
    }
  }
  /// Applies one step. Returns whether a shorter one can still change the row: not if it is 0, or if rounding hid this step.
  bool prox(index_t j, double* w, double step) const {
    const index_t n = rounds.n_tasks;
    if (std::all_of(w, w + n, [](double v) { return v == 0; })) return false;
    return penalty.shrink(w, n, alpha * step, l1_of(j));
  }
  /// Row j as if the open round were complete.
  const double* read(index_t j) const {
    std::copy(row(j), row(j) + rounds.n_tasks, scratch.begin());
    if (j != constant) pay(j, scratch.data(), (*clock + *rounds.is_open * tick()) - paid[j], rounds.n_with_open());
    return scratch.data();
  }
};

THRESHER_LEARNER(MultiTaskFobos, "Forward-backward splitting for tasks that share features.", MultiTaskFobos)

}  // namespace thresher
