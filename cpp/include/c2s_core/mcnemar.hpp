// Exact two-sided McNemar tests, singly or by the hundred thousand.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "c2s_core/poll.hpp"

namespace c2s {

// p = min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))) for each pair (b[i], c[i]) into out[i]; 1 where there is no discordance.
// Counts must be at least 0 and every b + c below 2^62. The value of one pair does not depend on the others.
void mcnemar_exact(std::span<const std::int64_t> b, std::span<const std::int64_t> c, double* out, const Poll& poll = {});

}  // namespace c2s
