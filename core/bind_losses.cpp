// The losses: the table of what they declare, and their functions by name, for numbers and for arrays.
#include "bind.hpp"
#include "bind_arrays.hpp"

namespace thresher {
namespace {

template <class L>
nb::dict describe() {
  nb::dict of;
  of["name"] = L::name;
  of["about"] = L::about;
  of["alias"] = L::alias;
  of["for_classes"] = L::for_classes;
  of["for_values"] = L::for_values;
  of["bounded"] = L::bounded;
  of["curvature"] = L::curvature;
  of["degree"] = L::degree;
  of["mean_is_best"] = L::mean_is_best;
  of["parameter"] = L::parameter;
  of["parameter_about"] = L::parameter_about;
  of["has_conjugate"] = !std::is_same_v<decltype(&L::conjugate), decltype(&Loss::conjugate)>;
  return of;
}

/// Binds a function f(loss, a, y) for two numbers and for two arrays.
template <class Function>
void bind_function(nb::module_& m, const char* name, const char* argument, Function f) {
  m.def(name, [f](const std::string& loss, double a, double y, double tau, double epsilon) {
    double found = 0;
    Losses::with(loss, tau, epsilon, [&](const auto& l) { found = f(l, a, y); });
    return found;
  }, nb::arg("loss"), nb::arg(argument), nb::arg("y"), nb::arg("tau") = 0.5, nb::arg("epsilon") = 0.1);
  m.def(name, [f](const std::string& loss, In<double> a, In<double> y, double tau, double epsilon) {
    require(a.shape(0) == y.shape(0), "there must be a target for every score");
    const std::size_t n = y.shape(0);
    Growing<double> found;
    double* const out = found.room(n);
    Losses::with(loss, tau, epsilon, [&](const auto& l) {
      for (std::size_t i = 0; i < n; ++i) out[i] = f(l, a.data()[i], y.data()[i]);
    });
    found.commit(n);
    return array(found);
  }, nb::arg("loss"), nb::arg(argument), nb::arg("y"), nb::arg("tau") = 0.5, nb::arg("epsilon") = 0.1);
}

}  // namespace

void bind_losses(nb::module_& m) {
  m.def("losses", [] {
    nb::list found;
    Losses::each([&](auto* loss) { found.append(describe<std::remove_const_t<std::remove_pointer_t<decltype(loss)>>>()); });
    return found;
  }, "What every loss declares about itself, see core/loss.hpp.");
  bind_function(m, "loss_value", "p", [](const auto& l, double p, double y) { return l.value(p, y); });
  bind_function(m, "loss_slope", "p", [](const auto& l, double p, double y) { return l.slope(p, y); });
  bind_function(m, "loss_pull", "p", [](const auto& l, double, double y) { return l.pull(y); });
  bind_function(m, "loss_conjugate", "u", [](const auto& l, double u, double y) { return l.conjugate(u, y); });
}

}  // namespace thresher
