// One function per topic; module.cpp calls them all.
#pragma once

#include <pybind11/pybind11.h>

namespace c2s::bindings {
void register_binomial(pybind11::module_& m);
void register_carry(pybind11::module_& m);
void register_exact(pybind11::module_& m);
void register_geometry(pybind11::module_& m);
void register_resample(pybind11::module_& m);
void register_scores(pybind11::module_& m);
void register_support(pybind11::module_& m);
}  // namespace c2s::bindings
