// What the compiled core was built from; both are compared with the Python package at import.
#pragma once

namespace c2s {
const char* version() noexcept;   // c2s.__version__ of the sources
const char* build_id() noexcept;  // SHA-256 over the C++ sources, see cpp/build_id.cmake
}  // namespace c2s
