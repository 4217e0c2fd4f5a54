#include "bind.hpp"
#include "learners/arow.hpp"
#include "learners/arow_k.hpp"
#include "learners/pa.hpp"

namespace thresher {

void bind_online(nb::module_& m) {
  bind_learner<Pa>(m, "Pa", "Passive-aggressive: C, squared.");
  bind_learner<ConfidentDiagonal<ArowRule>>(m, "ArowDiagonal", "AROW with one variance per weight: r, precision.");
  bind_learner<ArowSelecting>(m, "ArowSelecting", "AROW-K: r, relative, n_selected.");
  bind_learner<ConfidentFull<ArowRule>>(m, "ArowFull", "AROW with a full covariance: r.");
}

}  // namespace thresher
