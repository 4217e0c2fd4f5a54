// The extension module.
#include <nanobind/nanobind.h>

namespace thresher {
void bind_rows(nanobind::module_& m);
void bind_losses(nanobind::module_& m);
void bind_parse(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_moments(nanobind::module_& m);
void bind_score_bins(nanobind::module_& m);
void bind_learners(nanobind::module_& m);
void bind_sdca(nanobind::module_& m);
void bind_groups(nanobind::module_& m);
void bind_batches(nanobind::module_& m);
void bind_pool(nanobind::module_& m);
void bind_box_qp(nanobind::module_& m);
void bind_assign(nanobind::module_& m);
}  // namespace thresher

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // models that are alive when the interpreter ends are no one's mistake
  thresher::bind_rows(m);
  thresher::bind_losses(m);
  thresher::bind_parse(m);
  thresher::bind_csv(m);
  thresher::bind_text(m);
  thresher::bind_moments(m);
  thresher::bind_score_bins(m);
  thresher::bind_learners(m);
  thresher::bind_sdca(m);
  thresher::bind_groups(m);
  thresher::bind_batches(m);
  thresher::bind_pool(m);
  thresher::bind_box_qp(m);
  thresher::bind_assign(m);
}
