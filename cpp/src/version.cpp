#include "c2s_core/version.hpp"

#include "c2s_build_id.hpp"

namespace c2s {
const char* version() noexcept { return C2S_VERSION; }
const char* build_id() noexcept { return C2S_BUILD_ID; }
}  // namespace c2s
