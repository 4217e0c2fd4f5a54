#include "bind.hpp"
#include "learners/cw.hpp"
#include "learners/narow.hpp"
#include "learners/nherd.hpp"
#include "learners/scw.hpp"
#include "learners/sop.hpp"
#include "learners/surest.hpp"

namespace thresher {

template <class Rule> using SurestDiagonal = Surest<ConfidentDiagonal<Rule>>;
template <class Rule> using SurestFull = Surest<ConfidentFull<Rule>>;

void bind_confidence(nb::module_& m) {
  bind_learner<SurestDiagonal<CwRule>>(m, "CwDiagonal", "CW with one variance per weight: phi, precision, n_selected.");
  bind_learner<SurestFull<CwRule>>(m, "CwFull", "CW with a full covariance: phi, n_selected.");
  bind_learner<SurestDiagonal<CwVarianceRule>>(m, "CwVarianceDiagonal", "CW that bounds variances: phi, precision, n_selected.");
  bind_learner<SurestFull<CwVarianceRule>>(m, "CwVarianceFull", "CW that bounds variances: phi, n_selected.");
  bind_learner<SurestDiagonal<ScwRule>>(m, "ScwDiagonal", "Soft CW: C, phi, squared, precision, n_selected.");
  bind_learner<SurestFull<ScwRule>>(m, "ScwFull", "Soft CW: C, phi, squared, n_selected.");
  bind_learner<SurestDiagonal<NarowRule>>(m, "NarowDiagonal", "NAROW: b, precision, n_selected.");
  bind_learner<SurestFull<NarowRule>>(m, "NarowFull", "NAROW: b, n_selected.");
  bind_learner<SurestDiagonal<NherdRule>>(m, "NherdDiagonal", "Normal herd: C, precision, n_selected.");
  bind_learner<SurestFull<NherdRule>>(m, "NherdFull", "Normal herd: C, n_selected.");
  bind_learner<Surest<SopDiagonal>>(m, "SopDiagonal", "Second-order perceptron, diagonal: a, n_selected.");
  bind_learner<SurestFull<SopRule>>(m, "SopFull", "Second-order perceptron: a, n_selected.");
}

}  // namespace thresher
