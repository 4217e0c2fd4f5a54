#include "bind.hpp"
#include "learners/dropout_pegasos.hpp"
#include "learners/pegasos.hpp"

namespace thresher {

void bind_stochastic(nb::module_& m) {
  bind_learner<Pegasos<Direct>>(m, "Pegasos", "Pegasos, a step for every row.");
  bind_learner<Pegasos<HeldBack>>(m, "PegasosBatch", "Pegasos, a step for every batch_size rows.");
  bind_learner<DropoutPegasos>(m, "DropoutPegasos", "Pegasos that shrinks weights by chance.");
}

}  // namespace thresher
