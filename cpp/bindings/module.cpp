// Table of contents of the extension: every topic registers itself.
#include <pybind11/pybind11.h>

#include "c2s_core/version.hpp"
#include "register.hpp"

PYBIND11_MODULE(_core, m) {
  m.attr("__version__") = c2s::version();
  m.attr("__build_id__") = c2s::build_id();
  c2s::bindings::register_binomial(m);
  c2s::bindings::register_carry(m);
  c2s::bindings::register_exact(m);
  c2s::bindings::register_geometry(m);
  c2s::bindings::register_resample(m);
  c2s::bindings::register_scores(m);
  c2s::bindings::register_support(m);
}
