// What every register_<topic>.cpp needs: exact array types in, fresh arrays out, and the rule for the GIL.
//
// Rule: check and unpack (pointers, sizes, fresh outputs) with the GIL held, then release it and call the core. This is safe because
// the arguments keep the input arrays alive for the whole call, nobody else can see the outputs yet, and the core touches no
// Python object and keeps no state between calls. Arguments are keyword-only and never converted: a wrong dtype or layout is a
// TypeError here, and `c2s.kernels` turns its callers' arrays into the right ones before it calls.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <string>
#include <vector>

#include "checks.hpp"

namespace c2s::bindings {

template <class T>
using In = py::array_t<T, py::array::c_style>;

// The values of an array of `ndim` dimensions, in C order. `shape` is how the message spells what was expected, such as "[n, 2]".
template <class T>
std::span<const T> view(const char* name, const In<T>& array, int ndim, const char* shape) {
  if (array.ndim() != ndim) {
    refuse(std::string(name) + " must have shape " + shape + ", not " + std::to_string(array.ndim()) + " dimensions");
  }
  const std::span<const T> values(array.data(), static_cast<std::size_t>(array.size()));
  if (reinterpret_cast<std::uintptr_t>(values.data()) % alignof(T) != 0) refuse(std::string(name) + " must be aligned in memory");
  return values;
}

template <class T>
std::span<const T> list(const char* name, const In<T>& array) {
  return view(name, array, 1, "[n]");
}

// A fresh array. `sizes` names what its shape comes from; their product is checked here, because it may overflow.
template <class T>
py::array_t<T> fresh(const char* sizes, const std::vector<std::size_t>& shape) {
  constexpr std::size_t kMost = std::size_t{1} << 40;
  std::vector<py::ssize_t> checked;
  std::size_t product = 1;
  for (const std::size_t size : shape) {
    if (size > kMost / product) refuse(std::string(sizes) + ": the result must hold at most 2**40 values");
    product *= std::max<std::size_t>(1, size);
    checked.push_back(static_cast<py::ssize_t>(size));
  }
  return py::array_t<T>(checked);
}

template <class T>
py::array_t<T> to_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

}  // namespace c2s::bindings
