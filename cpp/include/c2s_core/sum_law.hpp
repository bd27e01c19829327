// The law of a sum by direct convolution: small tails keep their digits, which the transforms of exact.hpp lose below 1e-14.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "c2s_core/poll.hpp"

namespace c2s {

// The law of one integer sum by direct convolution of positive terms: full relative accuracy, also far in the tails.
struct SumLaw {
  std::int64_t low = 0;           // mass[i] = P(sum = low + i)
  std::vector<double> mass;
};

SumLaw exact_sum(std::span<const std::int64_t> offsets, std::span<const std::int64_t> value,
                 std::span<const std::int64_t> count, const Poll& poll = {});

}  // namespace c2s
