// A quadratic model of the losses around a point, and coordinate descent on it, block by block.
//
// With slopes v, curvatures h and shares s of the rows at the point, a change D of the scores changes the losses by about
//
//     sum_i  s_i v_i D_i + d_i D_i^2 / 2,     d_i = s_i h_i,     rates  q_i = s_i v_i + d_i D_i.
//
// A free constant is always kept at its optimum, where the rates sum to 0, so a step of weight j moves along column j less its
// mean weighted by d. Columns are never centred; instead, q is stored without its multiple of d (`shift`).
#pragma once
#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "block_columns.hpp"
#include "block_loss.hpp"
#include "block_penalty.hpp"
#include "task_sweep.hpp"
#include "watch.hpp"

namespace thresher {

/// The rows of a task, and the current point.
template <class Columns>
struct BlockTask {
  const Columns* x;
  Targets of;
  std::vector<double> p, slope, bend;  // scores with the constant; slopes and curvatures at the scores
  std::vector<double> q, d;            // rates without shift * d; curvatures of the model
  double constant = 0, shift = 0, total = 0, before = 0;

  auto column(index_t j) const { return x->row(j, 0); }
};

template <class Columns>
class BlockModel {
 public:
  using Tasks = std::vector<BlockTask<Columns>>;

  BlockModel(const Blocks& of, Tasks& rows, bool has_constant, bool is_quadratic)
      : blocks(of), tasks(rows), free(has_constant), quadratic(is_quadratic), centre(of.n_weights()), steep(of.n_weights()),
        known(of.n_blocks), matrix_at(of.n_blocks, -1), together(IsDense<Columns>::value && on_same_rows()),
        alike(together && weighed_alike()) {
    index_t most = 1;
    for (index_t b = 0; b < of.n_blocks; ++b) most = std::max(most, of.size(b));
    for (std::vector<double>* each : {&gradient, &moved, &trial, &turned, &change}) each->resize(most);
  }

  /// Sets up the model around the current scores for the blocks of `set`. Curvatures below `least` are raised to it.
  void begin(const std::vector<index_t>& set, const BlockPenalty& with, double least) {
    penalty = &with;
    for (auto& task : tasks) {
      double rate = 0;
      task.total = 0;
      for (index_t i = 0; i < task.of.n; ++i) {
        task.q[i] = task.of.share[i] * task.slope[i];
        task.d[i] = task.of.share[i] * std::max(task.bend[i], least);
        rate += task.q[i], task.total += task.d[i];
      }
      task.shift = free && task.total > 0 ? -rate / task.total : 0;
    }
    if (!quadratic) {
      std::fill(known.begin(), known.end(), 0);
      matrices.clear();
    }
    for (const index_t b : set) {
      watch.tick();
      if (!known[b]) look(b);
    }
  }

  /// Minimises over each block in turn. Returns a lower bound on the decrease of the model.
  double epoch(const std::vector<index_t>& set, double* w) {
    double fallen = 0;
    find_rates();
    for (std::size_t k = 0; k < set.size(); ++k) {
      watch.tick();
      const index_t b = set[k], next = alike && k + 1 < set.size() ? set[k + 1] : -1;
      fallen += blocks.size(b) == 1 ? step_one(b, w) : step(b, w, next);
    }
    settle();
    return fallen;
  }

  /// <x_a, q> for all weights a of a block, with the current rates q. `next` is the block whose turn is next, or -1 if unknown.
  void products(index_t b, double* out, index_t next = -1) {
    const index_t first = blocks.starts[b], n = blocks.size(b);
    if constexpr (IsDense<Columns>::value)
      if (together) {
        const auto then = tasks[0].column(blocks.column[blocks.starts[next < 0 ? b : next]]);
        return sweep.dot(tasks[0].column(blocks.column[first]), next < 0 ? nullptr : &then, out);
      }
    for (index_t k = 0; k < n; ++k) {
      const auto& task = tasks[blocks.task[first + k]];
      out[k] = dot(task.column(blocks.column[first + k]), task.q.data());
    }
  }
  /// Call this before `products`: the arrays of rates may have been replaced.
  void find_rates() {
    if (together) sweep.begin(tasks, &BlockTask<Columns>::q);
  }

  /// Adds the contribution of the weights to the scores.
  void add_scores(const double* w) {
    if constexpr (IsDense<Columns>::value)
      if (together) {
        sweep.begin(tasks, &BlockTask<Columns>::p);
        for (index_t b = 0; b < blocks.n_blocks; ++b) {
          const double* const here = w + blocks.starts[b];
          if (std::any_of(here, here + blocks.size(b), [](double each) { return each != 0; }))
            sweep.add(tasks[0].column(blocks.column[blocks.starts[b]]), nullptr, here);
        }
        return sweep.flush();
      }
    for (index_t a = 0; a < blocks.n_weights(); ++a)
      if (w[a] != 0) {
        auto& task = tasks[blocks.task[a]];
        add_scaled(task.column(blocks.column[a]), w[a], task.p.data());
      }
  }
  /// The norm of a block's columns, weighted by shares; across tasks, the largest of the columns' norms.
  double length(index_t b) const {
    double square = 0;
    for (index_t a = blocks.starts[b]; a < (alike ? blocks.starts[b] + 1 : blocks.starts[b + 1]); ++a) {
      const auto& task = tasks[blocks.task[a]];
      const double* const share = task.of.share;
      const double of_column = task.column(blocks.column[a]).sum([=](index_t i, double xi) { return share[i] * xi * xi; });
      square = blocks.across ? std::max(square, of_column) : square + of_column;
    }
    return std::sqrt(square);
  }
  /// Moves all weights of a block. Call it between `find_rates` and `settle`.
  void move(index_t b, const double* by) {
    const index_t first = blocks.starts[b], n = blocks.size(b);
    if constexpr (IsDense<Columns>::value)
      if (alike) {
        for (index_t k = 0; k < n; ++k) tasks[k].shift -= by[k] * centre[first + k];
        return sweep.add(tasks[0].column(blocks.column[first]), tasks[0].d.data(), by);
      }
    for (index_t k = 0; k < n; ++k)
      if (by[k] != 0) add(first + k, by[k]);
  }
  void settle() { sweep.flush(); }

  /// Adds the effect of a change of weight a to the residuals (rates over the roots of curvatures) of all tasks, task by task.
  void add_residual(index_t a, double step, const double* roots, double* out) const {
    index_t before = 0;
    for (std::int32_t t = 0; t < blocks.task[a]; ++t) before += tasks[t].of.n;
    const auto& task = tasks[blocks.task[a]];
    add_weighted(task.column(blocks.column[a]), roots + before, step, out + before);
    if (centre[a] != 0) add_scaled(DenseRow<double>(roots + before, task.of.n, 0), -step * centre[a], out + before);
  }

  /// Updates rates and shifts after steps of weights that changed the residuals of all tasks by these amounts.
  void follow(const std::vector<index_t>& members, const std::vector<double>& steps, const std::vector<double>& residuals,
              const std::vector<double>& roots) {
    std::size_t at = 0;
    for (auto& task : tasks) task.before = task.shift;
    for (std::size_t k = 0; k < members.size(); ++k) tasks[blocks.task[members[k]]].shift -= steps[k] * centre[members[k]];
    for (auto& task : tasks)
      for (index_t i = 0; i < task.of.n; ++i, ++at)
        task.q[i] += residuals[at] * roots[at] - (task.shift - task.before) * task.d[i];
  }

  /// How much the losses' part of the model has changed since its start.
  double smooth() const {
    double sum = 0;
    for (const auto& task : tasks)
      for (index_t i = 0; i < task.of.n; ++i) {
        if (task.d[i] == 0) continue;
        const double before = task.of.share[i] * task.slope[i], rate = task.q[i] + task.shift * task.d[i];
        sum += (rate - before) * (rate + before) / (2 * task.d[i]);
      }
    return sum;
  }

 private:
  /// Whether all tasks have the same columns, and each block holds the weights of one column in all tasks.
  bool on_same_rows() const {
    for (const auto& task : tasks)
      if (task.x != tasks[0].x) return false;
    for (index_t b = 0; b < blocks.n_blocks; ++b) {
      const index_t first = blocks.starts[b];
      if (blocks.size(b) != blocks.n_tasks) return false;
      for (index_t k = 0; k < blocks.n_tasks; ++k)
        if (blocks.task[first + k] != k || blocks.column[first + k] != blocks.column[first]) return false;
    }
    return blocks.n_tasks > 1;
  }
  /// Whether rows have the same weights in all tasks, so that all tasks have the curvatures of the first.
  bool weighed_alike() const {
    for (const auto& task : tasks)
      if (!std::equal(task.of.share, task.of.share + task.of.n, tasks[0].of.share)) return false;
    return quadratic;
  }

  /// Gradient of the model in all weights of a block.
  void gradients(index_t b, double* out, index_t next = -1) {
    products(b, out, next);
    for (index_t k = 0; k < blocks.size(b); ++k) {
      const index_t a = blocks.starts[b] + k;
      const auto& task = tasks[blocks.task[a]];
      out[k] += task.shift * task.total * centre[a];
    }
  }
  /// Moves weight a by `step`.
  void add(index_t a, double step) {
    auto& task = tasks[blocks.task[a]];
    add_weighted(task.column(blocks.column[a]), task.d.data(), step, task.q.data());
    task.shift -= step * centre[a];
  }

  /// Weights of columns of zeros, or of constant ones, whose part a free constant takes.
  double clear(index_t first, index_t n, double* w) {
    for (index_t a = first; a < first + n; ++a)
      if (w[a] != 0) add(a, -std::exchange(w[a], 0.0));
    sweep.forget();
    return 0;
  }

  double step_one(index_t b, double* w) {
    const index_t a = blocks.starts[b];
    const double bent = steep[a] + penalty->l2, before = w[a];
    if (!(bent > 0)) return clear(a, 1, w);
    double g;
    gradients(b, &g);
    g += penalty->l2 * before;
    w[a] = soft_threshold(before - g / bent, (penalty->weight[b] + penalty->l1) / bent);
    const double by = w[a] - before;
    if (by == 0) return 0;
    add(a, by);
    return bent * by * by / 2;
  }

  /// Proximal gradient steps on the block alone, whose curvature is a small matrix, until the block is nearly optimal.
  double step(index_t b, double* all, index_t next) {
    const index_t n = blocks.size(b), first = blocks.starts[b];
    double *w = all + first, bound = 0;
    gradients(b, gradient.data(), next);
    for (index_t k = 0; k < n; ++k) gradient[k] += penalty->l2 * w[k], moved[k] = w[k];
    bool plain = true;  // curvature is the same in all directions: one step is exact
    if (blocks.across) {
      for (index_t k = 0; k < n; ++k) bound = std::max(bound, steep[first + k]);
      for (index_t k = 0; k < n; ++k) plain = plain && steep[first + k] == bound;
    } else {
      bound = steep[first], plain = false;
    }
    bound += penalty->l2;
    if (!(bound > 0)) return clear(first, n, all);
    std::copy_n(gradient.data(), n, turned.data());  // gradient at `moved`
    for (int repeat = 0; repeat < 20; ++repeat) {
      for (index_t k = 0; k < n; ++k) trial[k] = moved[k] - turned[k] / bound;
      penalty->prox(b, trial.data(), n, 1 / bound);
      double turn_by = 0, way = 0;
      for (index_t k = 0; k < n; ++k) {
        turn_by += (trial[k] - moved[k]) * (trial[k] - moved[k]);
        way += (trial[k] - w[k]) * (trial[k] - w[k]);
      }
      std::swap(moved, trial);
      if (plain || turn_by <= 1e-4 * way) break;
      turn(b, w, n);
    }
    double fallen = 0;
    turn(b, w, n);
    bool moves = false;
    for (index_t k = 0; k < n; ++k) {
      change[k] = moved[k] - w[k];
      fallen += change[k] * (turned[k] - gradient[k]) / 2;
      moves = moves || change[k] != 0;
      w[k] = moved[k];
    }
    if (moves) move(b, change.data());
    return fallen;
  }

  /// turned = gradient + H (moved - w)
  void turn(index_t b, const double* w, index_t n) {
    const index_t first = blocks.starts[b];
    for (index_t k = 0; k < n; ++k) {
      double sum = gradient[k] + penalty->l2 * (moved[k] - w[k]);
      if (blocks.across) sum += steep[first + k] * (moved[k] - w[k]);
      else
        for (index_t l = 0; l < n; ++l) sum += matrices[matrix_at[b] + k * n + l] * (moved[l] - w[l]);
      turned[k] = sum;
    }
  }

  /// Computes the means of a block's columns and its curvature: for several columns of one task, a matrix and a bound on it.
  void look(index_t b) {
    known[b] = 1;
    const index_t n = blocks.size(b), first = blocks.starts[b];
    for (index_t k = 0; k < n; ++k) {
      const auto& task = tasks[blocks.task[first + k]];
      const auto x = task.column(blocks.column[first + k]);
      const double* d = task.d.data();
      if (alike && k > 0) {
        centre[first + k] = centre[first], steep[first + k] = steep[first];
        continue;
      }
      const double mean = free && task.total > 0 ? dot(x, d) / task.total : 0;
      centre[first + k] = mean;
      if (n == 1 || blocks.across)
        steep[first + k] = std::max(0.0, x.sum([d](index_t i, double xi) { return d[i] * xi * xi; }) - task.total * mean * mean);
    }
    if (n == 1 || blocks.across) return;
    auto& task = tasks[blocks.task[first]];
    matrix_at[b] = static_cast<index_t>(matrices.size());
    matrices.resize(matrices.size() + n * n);
    double* const H = matrices.data() + matrix_at[b];
    weighted.assign(task.of.n, 0.0);
    for (index_t k = 0; k < n; ++k) {
      const auto x = task.column(blocks.column[first + k]);
      add_weighted(x, task.d.data(), 1, weighted.data());
      for (index_t l = 0; l <= k; ++l)
        H[k * n + l] = H[l * n + k] = dot(task.column(blocks.column[first + l]), weighted.data()) -
                                      task.total * centre[first + k] * centre[first + l];
      x.each([this](index_t i, double) { weighted[i] = 0; });
    }
    double widest = 0;  // no eigenvalue exceeds the largest row sum (Gershgorin)
    for (index_t k = 0; k < n; ++k) {
      double sum = 0;
      for (index_t l = 0; l < n; ++l) sum += std::fabs(H[k * n + l]);
      widest = std::max(widest, sum);
    }
    steep[first] = widest;
  }

  const Blocks& blocks;
  Tasks& tasks;
  const BlockPenalty* penalty = nullptr;
  bool free, quadratic;
  std::vector<double> centre, steep;  // per weight: mean of its column under d, curvature; of a block, the first has the bound
  std::vector<char> known;
  std::vector<index_t> matrix_at;
  std::vector<double> matrices, weighted, gradient, moved, trial, turned, change;
  bool together, alike;
  TaskSweep sweep;
  Watch watch;
};

}  // namespace thresher
