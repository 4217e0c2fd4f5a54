#include "bind.hpp"
#include "bind_matrix.hpp"
#include "learners/adaptive_l1_rda.hpp"
#include "learners/ftrl.hpp"
#include "learners/l1_rda.hpp"
#include "learners/multi_task_fobos.hpp"
#include "learners/multi_task_rda.hpp"
#include "learners/reweighted_l1_rda.hpp"
#include "learners/reweighted_l2_rda.hpp"
#include "learners/shared_rda.hpp"

namespace thresher {

void bind_dual_averaging(nb::module_& m) {
  bind_learner<L1Rda<Direct>>(m, "L1Rda", "l1 and l2 dual averaging, a step for every row.");
  bind_learner<L1Rda<HeldBack>>(m, "L1RdaBatch", "l1 and l2 dual averaging, a step for every batch_size rows.");
  bind_learner<AdaptiveL1Rda>(m, "AdaptiveL1Rda", "l1 and l2 dual averaging with a step size for every weight.");
  bind_learner<Ftrl>(m, "Ftrl", "FTRL-proximal.");
  bind_learner<ReweightedL1Rda>(m, "ReweightedL1Rda", "Dual averaging with a reweighted l1 penalty.");
  bind_learner<ReweightedL2Rda>(m, "ReweightedL2Rda", "Dual averaging with a reweighted l2 penalty.");
  bind_matrix_learner<MultiTaskRda>(m, "MultiTaskRda", "Dual averaging for tasks that share features.");
  bind_matrix_learner<MultiTaskFobos>(m, "MultiTaskFobos", "Forward-backward splitting for tasks that share features.");
  bind_matrix_learner<SharedRda>(m, "SharedRda", "Dual averaging with one set of features for all classes.");
}

}  // namespace thresher
