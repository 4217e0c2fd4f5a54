#pragma once
#include <functional>

#include "../loss.hpp"
#include "../matrix_pass.hpp"
#include "../learner.hpp"
#include "../shrink.hpp"

namespace thresher {

/// Dual averaging with one set of features for all classes. Each class has its loss against the rest; after t rows with gradient
/// sums S (row j: feature j over the classes),
///
///     W = argmin_W  <S / t, W> + alpha sum_j |W_j|_2 + (1 / (eta0 sqrt(t))) |W|^2 / 2
///     W_j = -(eta0 / sqrt(t)) shrink(S_j, alpha t)
///
/// A row of data costs O(n_outputs) per non-zero. The length of S_j is stored, so a feature that is not in use costs O(1).
/// With one output (two classes) this is l1-RDA, bit for bit. The constant has no penalty.
///
/// With `n_selected` = K, alpha follows an order statistic of the lengths, recomputed at t = 64, 128, 256 and so on. Before
/// weights are read, the cut is set exactly behind the K-th.
struct SharedRda : Plain {
  static constexpr const char* outputs = "output";  // the axis of its outputs
  double *gradient_sum, *length, *n_steps, *level;
  double alpha, eta0;
  index_t n_outputs, n_selected, constant;
  const Loss& criterion;
  double cut = 0, scale = 0, next_refresh = 64;  // functions of n_steps

  template <class Source>
  static std::vector<Field> fields(const Source& s) {
    std::vector<Field> all{{"gradient_sum", "weight output", 0.0, "sum"},
                           {"length", "weight", 0.0, "derived"},
                           Field{"n_steps", "", 0.0, "sum"}.counts()};
    if (s.number("n_selected") > 0) all.push_back({"level", "", 0.0, "derived"});
    return all;
  }
  template <class Source>
  explicit SharedRda(const Source& s)
      : gradient_sum(s.array("gradient_sum", "weight output")), length(s.array("length", "weight")),
        n_steps(s.array("n_steps", "")), level(nullptr), alpha(s.number("alpha")), eta0(s.number("eta0")),
        n_outputs(s.extent("output")), n_selected(static_cast<index_t>(s.number("n_selected"))), constant(s.n_weights - 1),
        criterion(s.loss()) {
    if (n_selected > 0) {
      level = s.array("level", "");
      alpha = *level;
      while (next_refresh <= *n_steps) next_refresh *= 2;
    }
    look_up();
  }

  index_t width() const { return n_outputs; }
  void open(const Item&) {}
  template <class Row>
  THRESHER_APART void score(const Row& x, const Item&, double* out) const {
    if (n_outputs == 1) {
      const double sum = x.sum([&](index_t j, double xj) { return soft_threshold(gradient_sum[j], cut) * xj; }, nothing);
      *out = -scale * sum + x.bias * (-scale * gradient_sum[constant]);
      return;
    }
    std::fill(out, out + n_outputs, 0.0);
    const auto add = [&](index_t j, double factor) {
      for (index_t k = 0; k < n_outputs; ++k) out[k] += factor * row(j)[k];
    };
    x.each([&](index_t j, double xj) {
      if (length[j] > cut) add(j, -scale * row_factor(length[j], cut) * xj);
      else out[0] += 0 * xj;  // propagates NaN
    }, [&](index_t j, double xj) { add(j, -scale * xj); });
  }
  template <class Row>
  THRESHER_APART void look(const Row& x, const Item& item, double* out) const {
    score(x, item, out);
  }
  void weights(index_t j, double* out) const {
    const double factor = j == constant ? 1 : row_factor(length[j], cut);
    for (index_t k = 0; k < n_outputs; ++k)
      out[k] = -scale * (n_outputs == 1 && j != constant ? soft_threshold(row(j)[k], cut) : factor * row(j)[k]);
  }
  /// The mean loss over the outputs.
  double loss(const double* out, const Item& item) const {
    double sum = 0;
    for (index_t k = 0; k < n_outputs; ++k) sum += criterion.value(out[k], target(k, item));
    return sum / static_cast<double>(n_outputs);
  }
  bool wrong(const double* out, const Item& item) const {
    if (n_outputs == 1) return (*out > 0) != (item.code == 1);
    return std::max_element(out, out + n_outputs) - out != item.code;
  }

  template <class Row>
  bool update(const Row& x, const Item& item, double* out) {
    bool moved = false;
    for (index_t k = 0; k < n_outputs; ++k) {  // scores become slopes
      out[k] = item.weight * criterion.slope(out[k], target(k, item));
      moved |= out[k] != 0;
    }
    if (moved)
      x.each([&](index_t j, double xj) {
        if (xj == 0) return;
        for (index_t k = 0; k < n_outputs; ++k) row(j)[k] += out[k] * xj;
        measure(j);
      });
    ++*n_steps;
    if (level && *n_steps >= next_refresh) {
      next_refresh *= 2;
      refresh();
    }
    look_up();
    return moved;
  }
  void rebuild() {
    for (index_t j = 0; j <= constant; ++j) measure(j);
    if (level) refresh();
    look_up();
  }
  /// Before weights are read: selects exactly n_selected features, or all if there are fewer.
  void read() {
    if (level) cut = next_length();
  }

 private:
  double* row(index_t j) const { return gradient_sum + j * n_outputs; }
  double target(index_t k, const Item& item) const { return item.code == (n_outputs == 1 ? 1 : k) ? 1.0 : -1.0; }
  void measure(index_t j) {
    length[j] = row_length([r = row(j)](index_t k) { return r[k]; }, n_outputs);
  }
  void look_up() {
    if (*n_steps == 0) return;
    cut = alpha * *n_steps;
    scale = 1 / (std::sqrt(*n_steps) / eta0);
  }
  void refresh() { alpha = *level = *n_steps == 0 ? 0 : next_length() / *n_steps; }
  /// The (n_selected + 1)-th largest length; 0 if there are too few.
  double next_length() const {
    if (n_selected >= constant) return 0;
    std::vector<double> lengths(length, length + constant);
    std::nth_element(lengths.begin(), lengths.begin() + n_selected, lengths.end(), std::greater<double>());
    return lengths[static_cast<std::size_t>(n_selected)];
  }
};

THRESHER_LEARNER(SharedRda, "Dual averaging with one set of features for all classes.", SharedRda)

}  // namespace thresher
