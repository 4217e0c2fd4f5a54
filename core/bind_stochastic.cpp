#include "bind.hpp"
#include "bind_matrix.hpp"
#include "learners/dropout_pegasos.hpp"
#include "learners/pegasos.hpp"
#include "learners/pegasos_snd.hpp"

namespace thresher {

void bind_stochastic(nb::module_& m) {
  bind_learner<Pegasos<Direct>>(m, "Pegasos", "Pegasos, a step for every row.");
  bind_learner<Pegasos<HeldBack>>(m, "PegasosBatch", "Pegasos, a step for every batch_size rows.");
  bind_learner<DropoutPegasos>(m, "DropoutPegasos", "Pegasos that shrinks weights by chance.");
  bind_matrix_learner<PegasosSnd>(m, "PegasosSnd", "Pegasos for classes, and rows that belong to none of them.");
}

}  // namespace thresher
