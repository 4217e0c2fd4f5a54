// Reads bytes from Python and returns arrays to it, without copies.
#pragma once

#include <nanobind/nanobind.h>
#include <nanobind/ndarray.h>

#include <cstdlib>
#include <initializer_list>
#include <stdexcept>

#include "growing.hpp"
#include "text.hpp"

namespace thresher {

namespace nb = nanobind;

/// The bytes of an object with the buffer protocol (bytes, memoryview, mmap, array), held for the lifetime of this object.
class Lent {
 public:
  explicit Lent(nb::handle owner) {
    if (PyObject_GetBuffer(owner.ptr(), &view_, PyBUF_SIMPLE) != 0) throw nb::python_error();
  }
  Lent(const Lent&) = delete;
  Lent& operator=(const Lent&) = delete;
  ~Lent() { PyBuffer_Release(&view_); }
  const char* data() const { return static_cast<const char*>(view_.buf); }
  std::size_t size() const { return static_cast<std::size_t>(view_.len); }

 private:
  Py_buffer view_;
};

/// Hands the storage over to a NumPy array.
template <class T> nb::object array(Growing<T>& numbers, std::initializer_list<std::size_t> shape) {
  T* const data = numbers.release();
  nb::capsule owner(data, [](void* p) noexcept { std::free(p); });
  return nb::cast(nb::ndarray<nb::numpy, T>(data, shape, owner));
}

template <class T> nb::object array(Growing<T>& numbers) { return array(numbers, {numbers.size()}); }

template <class T> using In = nb::ndarray<const T, nb::ndim<1>, nb::c_contig, nb::device::cpu>;

inline Texts checked_texts(const In<std::int64_t>& offsets, const In<std::uint8_t>& data) {
  if (offsets.size() == 0) throw std::invalid_argument("offsets must be one longer than the texts.");
  const Texts texts{offsets.data(), reinterpret_cast<const char*>(data.data()), static_cast<std::int64_t>(offsets.size()) - 1};
  if (!texts.fit(static_cast<std::int64_t>(data.size())))
    throw std::invalid_argument("offsets must rise and lie within the data.");
  return texts;
}

}  // namespace thresher
