// Arrays and parameters of a learner, by name.
#include "bind.hpp"

namespace thresher {

PySource::PySource(nb::dict s, nb::dict p, index_t n) : state(std::move(s)), params(std::move(p)), n_weights(n) {}
PySource::~PySource() = default;

double* PySource::array(const char* name, const char* axes) const { return array(name, extent(axes)); }

double* PySource::array(const char* name, index_t n) const {
  Out<double> found;  // never a converted copy
  require(nb::try_cast(get(state, name), found, false),
          std::string("state array ") + name + " must be writable float64 in one piece");
  require(static_cast<index_t>(found.shape(0)) == n, std::string("state array ") + name + " has the wrong length");
  return found.data();
}

index_t PySource::extent(std::string_view axes) const {
  index_t n = 1;
  while (!axes.empty()) {
    const std::string_view axis = axes.substr(0, axes.find(' '));
    axes.remove_prefix(std::min(axes.size(), axis.size() + 1));
    n *= axis == "weight" ? n_weights
       : axis == "tally"  ? 4
                          : static_cast<index_t>(number(("n_" + std::string(axis) + "s").c_str()));
  }
  return n;
}

double* PySource::pair(const char* first, const char* second, const char* axis) const {
  nb::ndarray<double, nb::ndim<1>, nb::device::cpu> a, b;
  const index_t n = extent(axis);
  require(nb::try_cast(get(state, first), a, false) && nb::try_cast(get(state, second), b, false) &&
              static_cast<index_t>(a.shape(0)) == n && static_cast<index_t>(b.shape(0)) == n &&
              (n == 1 || (a.stride(0) == 2 && b.stride(0) == 2)) && b.data() == a.data() + 1,
          std::string("state arrays ") + first + " and " + second + " must be writable float64, one per " + axis +
              ", side by side");
  return a.data();
}

double PySource::number(const char* name) const { return nb::cast<double>(get(params, name)); }
std::string PySource::text(const char* name) const { return nb::cast<std::string>(get(params, name)); }
bool PySource::flag(const char* name) const { return nb::cast<bool>(get(params, name)); }

const double* PySource::vector(const char* name, const char* axis) const {
  const nb::object given = get(params, name);
  if (given.is_none()) return nullptr;
  In<double> found;  // never a converted copy
  require(nb::try_cast(given, found, false), std::string(name) + " must be float64 in one piece");
  require(static_cast<index_t>(found.shape(0)) == extent(axis), std::string(name) + " must have one entry per " + axis);
  return found.data();
}

const Loss& PySource::loss() const {
  owned_loss = make_loss(nb::cast<std::string>(get(params, "loss")), number("tau"), number("epsilon"));
  if (params.contains("damping")) owned_loss->damping = number("damping");
  return *owned_loss;
}

nb::object PySource::get(const nb::dict& d, const char* name) {
  nb::str key(name);
  require(d.contains(key), std::string("missing: ") + name);
  return nb::borrow(d[key]);
}

}  // namespace thresher
