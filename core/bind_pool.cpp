// Selects features for the pool of a learner, once per batch.
#include "bind.hpp"
#include "pool.hpp"

namespace thresher {
namespace {

using Strided = nb::ndarray<const double, nb::ndim<1>, nb::device::cpu>;
using Matrix = nb::ndarray<double, nb::ndim<2>, nb::c_contig, nb::device::cpu>;

/// Writes the features to `out` and returns their number, or -1 if scores are not finite.
index_t best_outside(Strided a, Strided b, double s, double c, In<index_t> pool, Out<index_t> out) {
  const auto n_features = static_cast<index_t>(a.shape(0));
  require(static_cast<index_t>(b.shape(0)) == n_features, "there must be two sums for every feature");
  require(s > 0 && (c == 0 || c == 1), "the scale must be above 0, the constant 0 or 1");
  const auto n_pool = static_cast<index_t>(pool.shape(0));
  bool ordered = true;
  for (index_t k = 0; k < n_pool; ++k)
    ordered &= pool.data()[k] >= (k ? pool.data()[k - 1] + 1 : 0) && pool.data()[k] < n_features;
  require(ordered, "the pool must hold features in their order");
  BestOutside search{{a.data(), a.stride(0)}, {b.data(), b.stride(0)}, s, c, out.shape(0)};
  {
    nb::gil_scoped_release nogil;
    search.scan(n_features, pool.data(), n_pool);
  }
  for (std::size_t k = 0; k < search.best.size(); ++k) out.data()[k] = search.best[k].feature;
  return search.finite ? static_cast<index_t>(search.best.size()) : -1;
}

void prune(Out<double> mean, Matrix covariance, index_t n_first, index_t keep) {
  const auto n = static_cast<index_t>(mean.shape(0));
  require(static_cast<index_t>(covariance.shape(0)) == n && static_cast<index_t>(covariance.shape(1)) == n,
          "there must be a covariance for every pair");
  require(n_first >= 0 && n_first <= n && keep >= 0, "there must be a weight for each that stays");
  nb::gil_scoped_release nogil;
  condition(mean.data(), covariance.data(), n, n_first, keep);
}

}  // namespace

void bind_pool(nb::module_& m) {
  m.def("best_outside", &best_outside, nb::arg("a").noconvert(), nb::arg("b").noconvert(), nb::arg("s"), nb::arg("c"),
        nb::arg("pool").noconvert(), nb::arg("out").noconvert(),
        "Features outside a sorted pool with the largest (s a)^2 / (c + s b), written to `out`; how many, -1 if not finite.");
  m.def("condition", &prune, nb::arg("mean").noconvert(), nb::arg("covariance").noconvert(), nb::arg("n_first"), nb::arg("keep"),
        "Conditional pruning of a Gaussian to `keep` weights beside the first ones, in place.");
}

}  // namespace thresher
