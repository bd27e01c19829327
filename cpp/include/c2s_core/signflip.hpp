// Sign-flip (randomisation) tests of paired differences: by enumeration on a lattice, or by keyed random signs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "c2s_core/poll.hpp"
#include "c2s_core/resample.hpp"

namespace c2s {

// The law of T, the sum of the magnitudes that get a plus sign, each with probability 1/2: out[t] = P(T = t), t = 0 ... sum of the
// magnitudes, by dynamic programming over positive terms. Magnitudes are at least 0; out has room for their sum plus one.
void signflip_law(std::span<const std::int64_t> magnitude, double* out, const Poll& poll = {});

// Sums of +-difference for each draw into out. Difference i of draw t takes bit i of the draw's words in Stream::kSigns: set
// means plus. Added in groups of eight, so that floats do not depend on threads.
void signflip_sums(std::span<const double> difference, const DrawRange& draws, int threads, double* out,
                   const Poll& poll = {});

}  // namespace c2s
