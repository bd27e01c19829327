// The bootstrap by items: every draw picks n_s units with replacement in each stratum and adds up what they carry.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "c2s_core/poll.hpp"

namespace c2s {

// Units lie in stratum order: stratum s holds offsets[s] <= i < offsets[s + 1], each stratum below 2^32 units.
// Unit slot i of draw t takes the unit offset + floor(u * n / 2^32), u word i of the draw in Stream::kItems; a unit's
// probability differs from 1 / n by less than 2^-32.
struct DrawRange {
  std::uint64_t seed;
  std::uint64_t first;  // number of the first draw
  std::size_t count;
};

// Sums of packed counters: unit i carries `columns` 64-bit words values[i * columns + c], each of which may hold several
// fields that are wide enough never to overflow. out is [draws, columns].
void resample_packed(std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values, std::size_t columns,
                     const DrawRange& draws, int threads, std::uint64_t* out, const Poll& poll = {});

// The same for doubles, added in slot order.
void resample_sums(std::span<const std::int64_t> offsets, std::span<const double> values, std::size_t columns,
                   const DrawRange& draws, int threads, double* out, const Poll& poll = {});

}  // namespace c2s
