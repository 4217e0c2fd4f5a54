#include "bind.hpp"
#include "learners/arow.hpp"
#include "learners/arow_k.hpp"
#include "learners/csoal.hpp"
#include "learners/mbpa.hpp"
#include "learners/ofs.hpp"
#include "learners/pa.hpp"
#include "learners/petrun.hpp"
#include "learners/sofs.hpp"

namespace thresher {

void bind_online(nb::module_& m) {
  bind_learner<Pa>(m, "Pa", "Passive-aggressive: C, squared.");
  bind_learner<ConfidentDiagonal<ArowRule>>(m, "ArowDiagonal", "AROW with one variance per weight: r, precision.");
  bind_learner<ArowSelecting>(m, "ArowSelecting", "AROW-K: r, relative, n_selected.");
  bind_learner<ConfidentFull<ArowRule>>(m, "ArowFull", "AROW with a full covariance: r.");
  bind_learner<Ofs>(m, "Ofs", "OFS: n_selecteds, alpha, eta0, shrink.");
  bind_learner<Petrun>(m, "Petrun", "A perceptron on a budget: n_selecteds, eta0.");
  bind_learner<Sofs>(m, "Sofs", "SOFS: n_selecteds, r.");
  bind_learner<Mbpa>(m, "Mbpa", "PA-I on a budget, a margin per class: n_selecteds, C, alpha, cost_ratio.");
  bind_learner<Csoal>(m, "Csoal", "Cost-sensitive active PA-I: C, delta, query_budget, cost_ratio, by_weight.");
}

}  // namespace thresher
