// An intercept from means: the mean target less the prediction of the weights for the mean row.
#pragma once
#include "learner.hpp"

namespace thresher {

/// y_bar - <w, x_bar> over all rows so far, weighted by their row weights, for weights w = scale v.
///
/// Keeps sums of rows and of targets, and <v, sum of rows>, so that a row costs O(non-zeros). The sum of targets is stored in the
/// place of the constant. The part of the product that belongs to an open mini-batch is held back, as is its part of v.
/// Alternatively, steps use the mean of y - <w, x> over their own mini-batch, as far as its rows are known: Jumutc (2016),
/// Algorithms 4 and 5, divided by the number of these rows.
struct MeanConstant {
  double *weight_sum, *row_sum, *product, *held_product, *offset_product, *held_offset_product;
  double *residual_sum, *residual_weight;  // of an open mini-batch, if steps use its mean; else null
  index_t constant;
  double n_foreseen = 0;  // rows of the open mini-batch that its residuals include

  static void declare(std::vector<Field>& fields, bool by_batch) {
    fields.push_back({"weight_sum", "", 0.0, "sum"});
    fields.push_back({"row_sum", "weight", 0.0, "sum"});
    for (const char* name : {"product", "held_product", "offset_product", "held_offset_product"})
      fields.push_back({name, "", 0.0, "derived"});
    if (by_batch)
      for (const char* name : {"residual_sum", "residual_weight"}) fields.push_back({name, "", 0.0, "derived"});
  }
  template <class Source>
  MeanConstant(const Source& s, bool by_batch, double n_waiting)
      : weight_sum(s.array("weight_sum", "")), row_sum(s.array("row_sum", "weight")), product(s.array("product", "")),
        held_product(s.array("held_product", "")), offset_product(s.array("offset_product", "")),
        held_offset_product(s.array("held_offset_product", "")), residual_sum(by_batch ? s.array("residual_sum", "") : nullptr),
        residual_weight(by_batch ? s.array("residual_weight", "") : nullptr), constant(s.n_weights - 1), n_foreseen(n_waiting) {}

  /// The constant for weights that have this product with the sum of rows.
  double of(double with_row_sum) const { return *weight_sum == 0 ? 0 : (row_sum[constant] - with_row_sum) / *weight_sum; }

  double residual() const { return *residual_sum / *residual_weight; }

  /// Adds a row to the means, before its step.
  template <class Row, class Sums>
  void count(const Row& x, double y, double weight, const Sums& v) {
    double now = 0, held = 0, offset = 0, held_offset = 0;
    x.each([&](index_t j, double xj) {
      now += v[j] * xj;
      held += v.held(j) * xj;
      if (v.averages()) {
        offset += v.offset_at(j) * xj;
        held_offset += v.held_offset(j) * xj;
      }
      row_sum[j] += weight * xj;
    }, [](index_t, double) {});
    *product += weight * now;
    *held_product += weight * held;
    *offset_product += weight * offset;
    *held_offset_product += weight * held_offset;
    row_sum[constant] += weight * y;
    *weight_sum += weight;
  }
  /// The change of v at the end of the mini-batch has this product with the sum of rows.
  void hold_back(double change, double lived) {
    *held_product += change;
    *held_offset_product += lived * change;
  }
  void scale_held(double factor) {
    *held_product *= factor;
    *held_offset_product *= factor;
  }
  void take() {
    *product += *held_product;
    *offset_product += *held_offset_product;
    *held_product = *held_offset_product = 0;
    if (residual_sum) *residual_sum = *residual_weight = 0;
    n_foreseen = 0;
  }
  /// Computes all products afresh.
  template <class Sums>
  void recount(const Sums& v) {
    *product = *held_product = *offset_product = *held_offset_product = 0;
    for (index_t j = 0; j < constant; ++j) {
      *product += v[j] * row_sum[j];
      *held_product += v.held(j) * row_sum[j];
      if (!v.averages()) continue;
      *offset_product += v.offset_at(j) * row_sum[j];
      *held_offset_product += v.held_offset(j) * row_sum[j];
    }
  }
};

}  // namespace thresher
