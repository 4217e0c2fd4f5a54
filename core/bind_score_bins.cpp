// Counting scores in bins, see score_bins.hpp.
#include "bind.hpp"
#include "bind_arrays.hpp"
#include "score_bins.hpp"

namespace thresher {
namespace {

using Table = nb::ndarray<const double, nb::ndim<2>, nb::device::cpu>;

void count_scores(const Table& scores, In<double> y, std::optional<In<double>> weight, std::optional<In<index_t>> order,
                  Out<double> bins, Out<double> clock, Out<double> drift, bool ages) {
  const auto n_outputs = static_cast<index_t>(scores.shape(0)), n_steps = static_cast<index_t>(scores.shape(1));
  const auto n_rows = static_cast<index_t>(y.shape(0));
  require(static_cast<index_t>(bins.shape(0)) == 2 * ScoreBins::n * n_outputs, "there must be bins for every output");
  require(static_cast<index_t>(clock.shape(0)) == ScoreCounts::n_clock, "the clock must have four numbers");
  require(static_cast<index_t>(drift.shape(0)) == ScoreCounts::n_drift, "the drift must have eight numbers");
  require(!weight || weight->shape(0) == y.shape(0), "weights and rows differ in length");
  require(static_cast<index_t>(order ? order->shape(0) : y.shape(0)) == n_steps, "scores and steps differ in length");
  if (order) check_order(order->data(), n_steps, n_rows);
  ScoreCounts counts(bins.data(), clock.data(), drift.data(), n_outputs, ages);
  nb::gil_scoped_release nogil;
  for (index_t t = 0; t < n_steps; ++t) {
    const index_t i = order ? order->data()[t] : t;
    const double w = weight ? weight->data()[i] : 1.0;
    if (w > 0) counts.add(scores.data() + t * scores.stride(1), scores.stride(0), y.data()[i], w);
  }
  counts.close();
}

}  // namespace

void bind_score_bins(nb::module_& m) {
  m.def("count_scores", &count_scores, nb::arg("scores"), nb::arg("y"), nb::arg("weight").none(), nb::arg("order").none(),
        nb::arg("bins").noconvert(), nb::arg("clock").noconvert(), nb::arg("drift").noconvert(), nb::arg("ages") = true,
        "Count the scores, of shape (n_outputs, n_steps), of rows that were predicted before they were learned from.");
  m.def("score_bin_centres", [] {
    Growing<double> centres;
    double* const out = centres.room(ScoreBins::n);
    for (index_t k = 0; k < ScoreBins::n; ++k) out[k] = ScoreBins::centre(k);
    centres.commit(ScoreBins::n);
    return array(centres);
  }, "The middle of each bin of scores.");
}

}  // namespace thresher
