#include "bind.hpp"
#include "learners/l1_rda.hpp"

namespace thresher {

void bind_dual_averaging(nb::module_& m) {
  bind_learner<L1Rda<Direct>>(m, "L1Rda", "l1 and l2 dual averaging, a step for every row.");
  bind_learner<L1Rda<HeldBack>>(m, "L1RdaBatch", "l1 and l2 dual averaging, a step for every batch_size rows.");
}

}  // namespace thresher
