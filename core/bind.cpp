// The extension module.
#include <nanobind/nanobind.h>

#include "watch.hpp"

namespace thresher {
void bind_rows(nanobind::module_& m);
void bind_one_row(nanobind::module_& m);
void bind_row_models(nanobind::module_& m);
void bind_row_door(nanobind::module_& m);
void bind_several(nanobind::module_& m);
void bind_losses(nanobind::module_& m);
void bind_parse(nanobind::module_& m);
void bind_csv(nanobind::module_& m);
void bind_vw(nanobind::module_& m);
void bind_text(nanobind::module_& m);
void bind_moments(nanobind::module_& m);
void bind_splines(nanobind::module_& m);
void bind_score_bins(nanobind::module_& m);
void bind_learners(nanobind::module_& m);
void bind_sdca(nanobind::module_& m);
void bind_groups(nanobind::module_& m);
void bind_batches(nanobind::module_& m);
void bind_pool(nanobind::module_& m);
void bind_box_qp(nanobind::module_& m);
void bind_block_solver(nanobind::module_& m);
void bind_kernel_stack(nanobind::module_& m);
void bind_assign(nanobind::module_& m);

namespace {
/// Raises KeyboardInterrupt if Ctrl-C was pressed during a loop that runs without the GIL.
void look_for_signals() {
  const nanobind::gil_scoped_acquire gil;
  if (PyErr_CheckSignals() != 0) throw nanobind::python_error();
}
}  // namespace
}  // namespace thresher

NB_MODULE(_core, m) {
  nanobind::set_leak_warnings(false);  // models may still be alive when the interpreter exits
  thresher::Watch::ask = thresher::look_for_signals;
  thresher::bind_rows(m);
  thresher::bind_one_row(m);
  thresher::bind_row_models(m);
  thresher::bind_row_door(m);
  thresher::bind_several(m);
  thresher::bind_losses(m);
  thresher::bind_parse(m);
  thresher::bind_csv(m);
  thresher::bind_vw(m);
  thresher::bind_text(m);
  thresher::bind_moments(m);
  thresher::bind_splines(m);
  thresher::bind_score_bins(m);
  thresher::bind_learners(m);
  thresher::bind_sdca(m);
  thresher::bind_groups(m);
  thresher::bind_batches(m);
  thresher::bind_pool(m);
  thresher::bind_box_qp(m);
  thresher::bind_block_solver(m);
  thresher::bind_kernel_stack(m);
  thresher::bind_assign(m);
}
