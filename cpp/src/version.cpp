#include "c2s_core/version.hpp"

namespace c2s {
const char* version() noexcept { return "0.1.0"; }
}
