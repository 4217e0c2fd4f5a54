// Linear models with penalties on blocks of weights, solved block by block to a duality gap.
#pragma once
#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>
#include <vector>

#include "block_model.hpp"
#include "conjugate_steps.hpp"
#include "extrapolation.hpp"

namespace thresher {

struct BlockResult {
  double objective, gap;
  index_t n_iter;
};

/// Interface of the solver for any layout of columns.
struct AnyBlockSolver {
  /// Starts from weights w and constants c, and updates both.
  virtual BlockResult solve(const BlockPenalty& penalty, double* w, double* c, double tol, index_t max_iter) = 0;
  /// The factor of the penalty from which on all weights are 0; l2 plays no part.
  virtual double largest(const BlockPenalty& penalty) = 0;
  virtual ~AnyBlockSolver() = default;
};

/// Minimise over weights w and, if they are free, constants c of the tasks
///
///     F(w, c) = sum_q sum_i share_qi loss(x_qi' w_q + c_q, y_qi) + Omega(w).
///
/// A round takes the blocks in use and those with the largest gradients, and improves their weights by proximal Newton steps: a
/// quadratic model of the losses (block_model.hpp), accelerated coordinate descent on it, and a line search. Then the gradient of
/// all blocks gives a dual point, scaled to be feasible, and a lower bound on F. The conjugates of the losses are strongly
/// convex, so the gap bounds the distance to the best dual point, and with it the gradients there. Blocks that must be 0 by this
/// bound are dropped.
///   Yuan, Ho and Lin, JMLR 13 (2012); Massias, Gramfort and Salmon, ICML 2018; Ndiaye et al., JMLR 18 (2017).
template <class Columns>
class BlockSolver final : public AnyBlockSolver {
 public:
  BlockSolver(const Blocks& of, std::vector<std::pair<const Columns*, Targets>> rows, const LossSweep& with, bool has_constant)
      : blocks(of), loss(with), free(has_constant), tasks(make(rows)), model(blocks, tasks, has_constant, with.quadratic),
        gradient(of.n_weights()), pull(of.n_blocks) {}

  BlockResult solve(const BlockPenalty& with, double* weights, double* constants, double tol, index_t max_iter) override {
    begin(with, weights);
    n_iter = 0, most_iter = max_iter, room = first_room, flat = flattest;
    for (std::size_t q = 0; q < tasks.size(); ++q) tasks[q].constant = free ? constants[q] : 0;
    double lower = -std::numeric_limits<double>::infinity(), before = -lower;
    for (index_t round = 0, idle = 0;; ++round) {
      rescore();
      objective = centred_objective();
      const double here = bound(alive);
      lower = std::max(lower, here);
      const double gap = std::max(objective - lower, 0.0), enough = tol * std::max(1.0, std::fabs(objective));
      idle = gap > 0.9 * before ? idle + 1 : 0;
      if (gap <= enough || n_iter >= max_iter || idle == most_idle) {
        for (std::size_t q = 0; q < tasks.size(); ++q) constants[q] = tasks[q].constant;
        return {objective, gap, n_iter};
      }
      if (round > 0) screen(std::max(objective - here, 0.0));
      if (gap > 0.5 * before) room *= 2;
      before = gap;
      improve(chosen(), std::max(enough / 2, nearer * gap));
    }
  }

  double largest(const BlockPenalty& with) override {
    std::vector<double> zeros(blocks.n_weights());
    begin(with, zeros.data());
    rescore();
    centred_objective();
    rates();
    double s = 0;
    for (const index_t b : alive) s = penalty->polar(b, gradient_of(b), blocks.size(b), s);
    return s;
  }

 private:
  static constexpr index_t first_room = 100;  // blocks in the first working set
  static constexpr double nearer = 0.1;       // the gap on a working set is reduced to this part of the gap on all blocks
  static constexpr index_t first_epochs = 4;  // epochs before acceleration starts
  static constexpr double rounding = 1e-14;   // relative to F
  static constexpr index_t most_idle = 10;    // rounds in a row without progress, after which only rounding is left
  static constexpr double flattest = 1e-4;    // relative to the largest curvature: the least curvature of a row in a model

  std::vector<BlockTask<Columns>> make(const std::vector<std::pair<const Columns*, Targets>>& rows) {
    std::vector<BlockTask<Columns>> made(rows.size());
    for (std::size_t q = 0; q < rows.size(); ++q) {
      made[q].x = rows[q].first, made[q].of = rows[q].second;
      for (std::vector<double>* each : {&made[q].p, &made[q].slope, &made[q].bend, &made[q].q, &made[q].d})
        each->resize(made[q].of.n);
    }
    return made;
  }

  void begin(const BlockPenalty& with, double* weights) {
    penalty = &with, w = weights;
    alive.resize(blocks.n_blocks);
    for (index_t b = 0; b < blocks.n_blocks; ++b) alive[b] = b;
    for (auto& task : tasks) task.constant = 0;
  }

  bool used(index_t b) const {
    for (index_t a = blocks.starts[b]; a < blocks.starts[b + 1]; ++a)
      if (w[a] != 0) return true;
    return false;
  }

  /// Computes scores afresh from the weights, which removes rounding errors of the steps.
  void rescore() {
    for (auto& task : tasks) std::fill(task.p.begin(), task.p.end(), task.constant);
    model.add_scores(w);
  }

  double evaluate() {
    double sum = 0;
    for (auto& task : tasks) sum += loss.evaluate(task.of, task.p.data(), task.slope.data(), task.bend.data());
    return sum;
  }
  double penalties(const std::vector<index_t>& set) const {
    double sum = 0;
    for (const index_t b : set) sum += penalty->value(b, w + blocks.starts[b], blocks.size(b));
    return sum;
  }
  /// F with the best constants, where the slopes sum to 0, as the dual requires.
  double centred_objective() {
    if (free)
      for (auto& task : tasks) {
        const double c = loss.best_constant(task.of, task.p.data());
        if (c == 0) continue;
        task.constant += c;
        for (double& p : task.p) p += c;
      }
    return evaluate() + penalties(alive);
  }

  /// What each row contributes to gradients, at the current scores.
  void rates() {
    for (auto& task : tasks)
      for (index_t i = 0; i < task.of.n; ++i) task.q[i] = task.of.share[i] * task.slope[i];
    model.find_rates();
  }
  const double* gradient_of(index_t b, index_t next = -1) {
    watch.tick();
    double* const g = gradient.data() + blocks.starts[b];
    model.products(b, g, next);
    return g;
  }

  /// A lower bound on F when all blocks outside `set` are 0. Computes the gradients and pulls of the blocks of `set`.
  double bound(const std::vector<index_t>& set) {
    rates();
    scale = 1;
    double beyond = 0;
    for (std::size_t k = 0; k < set.size(); ++k) {
      const index_t b = set[k], n = blocks.size(b);
      const double* const g = gradient_of(b, k + 1 < set.size() ? set[k + 1] : -1);
      const double at_most = penalty->weight[b] + (n == 1 ? penalty->l1 : 0);
      pull[b] = (n == 1 ? std::fabs(g[0]) : penalty->excess(g, n, 1)) / at_most;
      if (pull[b] <= 1) continue;
      if (penalty->l2 == 0) {
        scale = penalty->polar(b, g, n, scale);
        continue;
      }
      free_part.assign(g, g + n);
      penalty->prox(b, free_part.data(), n, 1);
      for (const double each : free_part) beyond += each * each;
    }
    scale = 1 / scale;
    double dual = penalty->l2 > 0 ? -beyond / (2 * penalty->l2) : 0;
    for (const auto& task : tasks) dual -= loss.conjugate(task.of, task.slope.data(), scale);
    return dual;
  }

  /// Drops blocks that are certainly 0 at the optimum (gap-safe screening): the slopes at the optimum are within sqrt(2 curvature
  /// gap) of these, in the norm weighted by shares. The gap must be that of these slopes.
  void screen(double gap) {
    if (length.empty()) measure();
    const double radius = std::sqrt(2 * loss.curvature * gap);
    const auto safe = [&](index_t b) {
      const index_t first = blocks.starts[b], n = blocks.size(b);
      double* const g = gradient.data() + first;
      const double weight = penalty->weight[b] + (n == 1 ? penalty->l1 : 0);
      for (index_t k = 0; k < n; ++k) g[k] *= scale;
      const double now = n == 1 ? std::fabs(g[0]) : penalty->excess(g, n, 1);
      return now + radius * penalty->widest(n) * length[b] < weight && !used(b);
    };
    alive.erase(std::remove_if(alive.begin(), alive.end(), safe), alive.end());
  }
  void measure() {
    length.resize(blocks.n_blocks);
    for (index_t b = 0; b < blocks.n_blocks; ++b) {
      watch.tick();
      length[b] = model.length(b);
    }
  }

  /// Blocks in use, and the unused blocks with the largest gradients: at least half of those that violate optimality.
  std::vector<index_t> chosen() {
    std::vector<index_t> set, others;
    for (const index_t b : alive) (used(b) ? set : others).push_back(b);
    const auto n_pulled =
        static_cast<std::size_t>(std::count_if(others.begin(), others.end(), [this](index_t b) { return pull[b] > 1; }));
    const std::size_t more = std::max({room, set.size(), n_pulled / 2});
    if (others.size() > more) {
      std::nth_element(others.begin(), others.begin() + more, others.end(),
                       [&](index_t a, index_t b) { return pull[a] != pull[b] ? pull[a] > pull[b] : a < b; });
      others.resize(more);
    }
    set.insert(set.end(), others.begin(), others.end());
    std::sort(set.begin(), set.end());
    return set;
  }

  /// Proximal Newton steps on these blocks until the gap on them is small enough, or below rounding errors.
  void improve(const std::vector<index_t>& set, double enough) {
    std::vector<index_t> members;
    for (const index_t b : set)
      for (index_t a = blocks.starts[b]; a < blocks.starts[b + 1]; ++a) members.push_back(a);
    for (bool first = true; n_iter < most_iter; first = false) {
      if (!first && objective - bound(set) <= enough) return;
      if (!newton(set, members)) return;
    }
  }

  /// Minimises one model roughly and searches the line to its minimiser. Returns whether F decreased.
  bool newton(const std::vector<index_t>& set, const std::vector<index_t>& members) {
    model.begin(set, *penalty, flat * loss.curvature);
    std::vector<double> begin(members.size());
    for (std::size_t k = 0; k < members.size(); ++k) begin[k] = w[members[k]];
    descend(set, members);

    double slope = 0;  // an upper bound on the directional derivative of F
    for (auto& task : tasks)
      for (index_t i = 0; i < task.of.n; ++i) {
        const double rate = task.of.share[i] * task.slope[i];
        task.q[i] = task.d[i] == 0 ? 0 : (task.q[i] - rate) / task.d[i] + task.shift;  // from here on, the change of the score
        slope += rate * task.q[i];
      }
    slope += penalties(set);
    std::vector<double> end(members.size());
    for (std::size_t k = 0; k < members.size(); ++k) end[k] = w[members[k]], w[members[k]] = begin[k];
    slope -= penalties(set);
    const double before = objective;
    double at = 0;  // the position on the line
    for (double step = 1;; step = step > 1e-6 ? step / 2 : 0) {
      for (auto& task : tasks) {
        for (index_t i = 0; i < task.of.n; ++i) task.p[i] += (step - at) * task.q[i];
        task.constant += (step - at) * task.shift;
      }
      at = step;
      for (std::size_t k = 0; k < members.size(); ++k) w[members[k]] = step == 1 ? end[k] : begin[k] + step * (end[k] - begin[k]);
      objective = evaluate() + penalties(set);
      if (loss.quadratic || step == 0 || objective <= before + 1e-3 * step * slope + rounding * std::fabs(before)) break;
    }
    const bool careful = flat == 1 || loss.quadratic;  // the model is an upper bound on F
    flat = at < 1 ? std::min(10 * flat, 1.0) : std::max(flat / 4, flattest);
    if (free) objective = centred_objective();
    return objective < before || !careful;
  }

  /// Coordinate descent on the model: mostly over the blocks in use, sometimes over all. If the losses are quadratic, the model
  /// is exact: its epochs become conjugate directions as long as they gain more than rounding. Otherwise a model with flat parts
  /// should not be minimised too precisely, so every few epochs are extrapolated instead.
  void descend(const std::vector<index_t>& set, const std::vector<index_t>& members) {
    std::vector<index_t> active;
    Extrapolation ahead;
    ConjugateSteps steps;
    std::vector<double> there;
    const double little = loss.quadratic ? 1e-2 : 1e-1;
    double fallen = 0;
    bool whole = true, visible = false;  // `visible`: an epoch gains more than rounding
    for (index_t epoch = 0; epoch < (loss.quadratic ? 100 : 20) && n_iter < most_iter; ++epoch) {
      ++n_iter;
      const bool accelerated = loss.quadratic && epoch >= first_epochs;
      if (accelerated && steps.size() == 0) find_roots();
      if (accelerated) leave(steps.next(), members);
      double by = model.epoch(whole ? set : active, w);
      if (accelerated) {
        arrive(steps[0], members);
        visible = by > rounding * std::fabs(objective);
        if (visible) by += advance(steps, set, members);
        else steps.keep(0);
      }
      fallen += by;
      const bool slow = by <= little * fallen;
      if (whole && slow && epoch > 0) return;
      if (whole) {
        active.clear();
        for (const index_t b : set)
          if (used(b)) active.push_back(b);
        ahead.forget();
      }
      whole = slow;
      if (visible) {
        ahead.forget();
        continue;
      }
      there.clear();
      for (const index_t b : active) there.insert(there.end(), w + blocks.starts[b], w + blocks.starts[b + 1]);
      if (ahead.push(there) && ahead.find(there)) jump(active, there);
    }
  }

  /// Moves the weights of these blocks to `there` if the model is lower there.
  void jump(const std::vector<index_t>& active, std::vector<double>& there) {
    const double before = model.smooth() + penalties(active);
    kept.clear();
    for (const auto& task : tasks) kept.emplace_back(task.q, task.shift);
    const auto in_pairs = [&](auto&& with) {
      double* other = there.data();
      for (const index_t b : active)
        for (index_t a = blocks.starts[b]; a < blocks.starts[b + 1]; ++a) with(w[a], *other++);
    };
    std::vector<double> by;
    in_pairs([&](double& here, double& other) { by.push_back(other - here), std::swap(here, other); });
    model.find_rates();
    const double* step = by.data();
    for (const index_t b : active) model.move(b, step), step += blocks.size(b);
    model.settle();
    if (model.smooth() + penalties(active) < before) return;
    in_pairs([](double& here, double& other) { here = other; });
    for (std::size_t q = 0; q < tasks.size(); ++q) std::swap(tasks[q].q, kept[q].first), tasks[q].shift = kept[q].second;
  }

  /// Square roots of the model's curvatures. The smooth part of the model is half the squared norm of rates over roots.
  void find_roots() {
    roots.clear();
    for (const auto& task : tasks)
      for (const double d : task.d) roots.push_back(std::sqrt(d));
  }
  /// `leave` and `arrive` record a step: the change of weights and residuals during an epoch.
  void leave(ConjugateSteps::Step& step, const std::vector<index_t>& members) const {
    residuals(step.r);
    step.x.clear();
    for (const index_t a : members) step.x.push_back(w[a]);
  }
  void arrive(ConjugateSteps::Step& step, const std::vector<index_t>& members) {
    residuals(rates_now);
    for (std::size_t k = 0; k < members.size(); ++k) step.x[k] = w[members[k]] - step.x[k];
    for (std::size_t i = 0; i < rates_now.size(); ++i) step.r[i] = rates_now[i] - step.r[i];
  }
  /// Residuals: rates over the roots of curvatures.
  void residuals(std::vector<double>& out) const {
    out.resize(roots.size());
    const double* root = roots.data();
    double* to = out.data();
    for (const auto& task : tasks)
      for (index_t i = 0; i < task.of.n; ++i, ++root) *to++ = *root == 0 ? 0 : task.q[i] / *root + task.shift * *root;
  }

  /// Moves along the last steps to where the model is lower, and returns the decrease. `rates_now` holds the residuals.
  double advance(ConjugateSteps& ahead, const std::vector<index_t>& set, const std::vector<index_t>& members) {
    start.clear();
    for (const index_t a : members) start.push_back(w[a]);
    straighten(ahead, members);
    const double before = penalties(set), least = rounding * std::fabs(objective);
    const auto go = [&](double share, const std::vector<double>& by) {
      for (std::size_t k = 0; k < members.size(); ++k) w[members[k]] = start[k] + share * by[k];
      return penalties(set) - before;
    };
    for (int k = 0; k < ahead.size(); ++k) {
      ahead[k].slope = 0;
      const double* x = ahead[k].x.data();
      for (const index_t b : set)
        ahead[k].slope += penalty->slope(b, w + blocks.starts[b], x, blocks.size(b)), x += blocks.size(b);
    }
    ConjugateSteps::Way way;
    double fallen = 0, share = 2;
    if (ahead.find(rates_now, penalty->l2, way)) {
      ahead.combine(&ConjugateSteps::Step::x, by_w);
      while (!(fallen > least) && share > 0.1)
        share /= 2, fallen = -(share * (way.slope + share * way.bend / 2) + go(share, by_w));
    }
    if (!(fallen > least)) {
      go(0, start);
      return 0;
    }
    ahead.combine(&ConjugateSteps::Step::r, by_r);
    for (double& each : by_w) each *= share;
    for (double& each : by_r) each *= share;
    model.follow(members, by_w, by_r, roots);
    ConjugateSteps::Step& last = ahead[0];
    for (std::size_t k = 0; k < by_w.size(); ++k) last.x[k] += by_w[k];
    for (std::size_t i = 0; i < by_r.size(); ++i) last.r[i] += by_r[i];
    return fallen;
  }

  /// Weights that are 0 stay 0: steps lose their components there, and are dropped if they have many.
  void straighten(ConjugateSteps& ahead, const std::vector<index_t>& members) {
    resting.clear();
    for (std::size_t k = 0; k < members.size(); ++k)
      if (start[k] == 0) resting.push_back(k);
    for (int s = 0; s < ahead.size(); ++s) {
      const auto moved = static_cast<std::size_t>(
          std::count_if(resting.begin(), resting.end(), [&](std::size_t k) { return ahead[s].x[k] != 0; }));
      if (16 * moved > members.size() - resting.size()) return ahead.keep(s);
      for (const std::size_t k : resting)
        if (ahead[s].x[k] != 0)
          model.add_residual(members[k], -std::exchange(ahead[s].x[k], 0.0), roots.data(), ahead[s].r.data());
    }
  }

  Blocks blocks;
  const LossSweep& loss;
  bool free;
  std::vector<BlockTask<Columns>> tasks;
  BlockModel<Columns> model;
  std::vector<double> gradient, pull, length, free_part, roots, rates_now, start, by_w, by_r;
  std::vector<std::size_t> resting;
  std::vector<index_t> alive;
  std::vector<std::pair<std::vector<double>, double>> kept;
  const BlockPenalty* penalty = nullptr;
  double* w = nullptr;
  double objective = 0, scale = 1, flat = flattest;
  std::size_t room = 0;
  index_t n_iter = 0, most_iter = 0;
  Watch watch;
};

}  // namespace thresher
