// The version of the compiled core, compared with the Python package at import.
#pragma once

namespace c2s {
const char* version() noexcept;
}
