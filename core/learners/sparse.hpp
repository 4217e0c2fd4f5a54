#pragma once
#include <algorithm>
#include <functional>
#include <optional>
#include <utility>

#include "../loss.hpp"
#include "../weights.hpp"

namespace thresher {

/// The common part of all l1 learners. A rule defines weights and the effect of a gradient on them:
///
///   static void declare(fields, second)     Rule(source, second)     its arrays; as the `second` learner, without an l1 penalty
///   double score(row, keep)                 void add(row, slope, keep)     over the features with keep(j), and the constant
///   double reach(row)                       how far a unit of slope moves the score of a row; 0 if gradients shorten the steps
///   double weight(j)   bool active(j)       the weight for a prediction; whether it is in use now
///   bool   sound                            whether its sums are still finite
///   double order(j)                         a weight is 0 if this is at most the cut of the penalty
///   void   cut_at(order)                    sets the cut to exactly this, before weights are read
///   double penalty_at(order)                the penalty whose cut is this now      void set_penalty(p)
///   bool   row_completes_batch()   double batch_size()   void step()   bool finish()   void settle()
///   double judged(row, margin)              optional: the score of a prediction, if it differs
///   Two    both_scores(row)                 optional: both scores, in one pass over the row
///   double n_unfinished()                   if lazy: the number of rows in the open mini-batch
///   bool   surely_finite(n)                 optional: true only if all n weights are finite, without a look at each
///
/// With `n_selected` = K, the penalty follows an order statistic, so that K weights remain. It is recomputed at steps 64, 128,
/// 256 and so on, in O(d) each. Before weights are read, the cut is set exactly behind the K-th.
/// With `debias`, a second learner without the l1 penalty learns on the features in use, and predicts.
template <class Rule>
struct Sparse {
  using Second = typename Rule::Second;
  Rule rule;
  std::optional<Second> second;
  double *n_steps, *level;
  index_t n_selected, constant;
  const Loss& criterion;
  double next_refresh = 64;

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all{Field{"n_steps", "", 0.0, "sum"}.counts()};
    Rule::declare(all, false);
    if (s.flag("debias")) Second::declare(all, true);
    if (s.number("n_selected") > 0) all.push_back({"level", "", 0.0, "derived"});
    return all;
  }
  template <class Source>
  explicit Sparse(const Source& s)
      : rule(s, false), n_steps(s.array("n_steps", "")), level(nullptr),
        n_selected(static_cast<index_t>(std::min(s.number("n_selected"), 1e15))), constant(s.constant()), criterion(s.loss()) {
    if (s.flag("debias")) second.emplace(s, true);
    if (n_selected > 0) {
      level = s.array("level", "");
      rule.set_penalty(*level);
      while (next_refresh <= *n_steps) next_refresh *= 2;
    }
  }

  template <class Row>
  double margin(const Row& x) {
    return second ? second->score(x, in_use()) : rule.score(x, AllFeatures());
  }
  template <class Row, class Of = Rule>
  auto judged(const Row& x, double margin) const -> decltype(std::declval<const Of&>().judged(x, margin)) {
    return rule.judged(x, margin);
  }
  template <class Row, class Of = Rule>
  auto both_scores(const Row& x) -> decltype(std::declval<const Of&>().both_scores(x)) {
    if (!second) return rule.both_scores(x);
    const double score = margin(x);
    return {score, rule.judged(x, score)};
  }
  double weight(index_t j) const {
    if (!second) return rule.weight(j);
    return j >= constant || rule.weight(j) != 0 ? second->weight(j) : 0;
  }
  template <class Of = Rule>
  auto surely_finite(index_t n) const -> decltype(std::declval<const Of&>().surely_finite(n)) {
    return !second && rule.surely_finite(n);
  }
  double loss(double margin, double y) const { return criterion.value(margin, y); }

  template <class Row>
  bool update(const Row& x, double y, double margin, double weight) {
    bool moved = false;
    if (second) {
      moved = learn(*second, x, y, margin, weight, in_use());
      margin = rule.score(x, AllFeatures());
    }
    moved |= learn(rule, x, y, margin, weight, AllFeatures());
    if (rule.row_completes_batch()) step();
    return moved;
  }
  bool sound() const { return rule.sound && (!second || second->sound); }
  /// Before the penalty of a lazy rule changes, the caller must settle all overdue steps.
  bool wants_settling() const {
    if constexpr (Rule::lazy) return level && *n_steps * 2 == next_refresh && *n_steps >= 64 && rule.n_unfinished() == 0;
    return false;
  }

  void finish() {
    if (!rule.finish()) return;
    step();
    if (wants_settling()) settle();
  }
  void settle() {
    finish();
    rule.settle();
    if (Rule::lazy && level && refresh_time()) refresh();
  }
  void rebuild() {
    rule.rebuild();
    if (second) second->rebuild();
    if (level) refresh();
  }
  /// Before weights are read: selects exactly n_selected of them, or all if there are fewer.
  void read() {
    if (level) rule.cut_at(cut());
  }

 private:
  auto in_use() {
    return [this](index_t j) { return rule.active(j); };
  }

  template <class Rule_, class Row, class Keep>
  bool learn(Rule_& of, const Row& x, double y, double margin, double weight, Keep keep) {
    const double slope = criterion.step(margin, y, weight, [&] { return of.reach(x); }) / rule.batch_size();
    if (slope != 0) of.add(x, slope, keep);
    return slope != 0;
  }
  void step() {
    ++*n_steps;
    rule.step();
    if (second) second->step();
    if (!level || *n_steps < next_refresh) return;
    next_refresh *= 2;
    if (!Rule::lazy) refresh();
  }
  bool refresh_time() const {
    double t = 64;
    while (t < *n_steps) t *= 2;
    return t == *n_steps;
  }
  void refresh() {
    *level = *n_steps == 0 ? 0 : rule.penalty_at(cut());
    rule.set_penalty(*level);
    rule.rebuild();
  }
  /// The (n_selected + 1)-th largest order of all features; 0 if there are too few.
  double cut() const {
    std::vector<double> orders;  // of features that have been met, also by the second learner if there is one
    for (index_t j = 0; j < constant; ++j) {
      const double order = rule.order(j);
      if (order > 0 && !(second && second->weight(j) == 0)) orders.push_back(order);
    }
    if (static_cast<index_t>(orders.size()) <= n_selected) return 0;
    const auto nth = orders.begin() + n_selected;
    std::nth_element(orders.begin(), nth, orders.end(), std::greater<double>());
    return *nth;
  }
};

}  // namespace thresher
