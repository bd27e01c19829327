// What every register_<topic>.cpp needs: exact array types in, fresh arrays out, and the rule for the GIL.
//
// Rule: unpack (pointers, sizes, fresh outputs) with the GIL held, then release it and call the core. This is safe because
// the arguments keep the input arrays alive for the whole call, nobody else can see the outputs yet, and the core touches no
// Python object and keeps no state between calls. Arguments are keyword-only and never converted: a wrong dtype or layout is a
// TypeError here, and `c2s.kernels` turns its callers' arrays into the right ones before it calls.
#pragma once

#include <pybind11/numpy.h>
#include <pybind11/pybind11.h>

#include <cstddef>
#include <span>
#include <stdexcept>
#include <string>

namespace c2s::bindings {

namespace py = pybind11;

template <class T>
using In = py::array_t<T, py::array::c_style>;

template <class T>
std::span<const T> view(const In<T>& array) {
  return {array.data(), static_cast<std::size_t>(array.size())};
}

inline void need(bool condition, const char* message) {
  if (!condition) throw std::invalid_argument(message);
}

}  // namespace c2s::bindings
