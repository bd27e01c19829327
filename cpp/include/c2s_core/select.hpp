// Inverse-CDF quantiles of weighted values without sorting them all.
#pragma once

#include <span>
#include <vector>

#include "c2s_core/poll.hpp"

namespace c2s {

// For each level q in (0, 1]: the smallest value v with mass(values <= v) >= q * total mass, a value of the sample. A shortfall of 1e-12 of
// the total counts as reached, so that ties such as F(v) = q exactly do not hang on rounding. `mass` empty means one each;
// values must be finite and not empty, masses positive.
std::vector<double> quantiles(std::span<const double> values, std::span<const double> mass, std::span<const double> levels,
                              const Poll& poll = {});

}  // namespace c2s
