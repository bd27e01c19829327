// Geometry of candidate sets: how fast the correct prefix tells the candidates apart, and what each position offers
// (paper A.2, Table D7). Candidates are equal-length byte strings, uniformly weighted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "c2s_core/poll.hpp"

namespace c2s {

// K(k) <= 255, so that the logarithms come from one small table.
inline constexpr std::size_t kMaxCandidates = 255;

// Lengths of common prefixes and counts of positions are 32-bit numbers.
inline constexpr std::size_t kMaxLength = std::size_t{1} << 24;

struct GeometryShape {
  std::size_t sets;        // n
  std::size_t candidates;  // m, 1 to kMaxCandidates
  std::size_t length;      // L, 1 to kMaxLength
};

// Row-major outputs.
struct GeometryColumns {
  std::int32_t* k;             // [n, L + 1] candidates that agree with the gold's first k characters
  double* entropy;             // [n, L + 1] log2 K(k), bits
  std::int32_t* first_unique;  // [n] first k with K(k) = 1, or -1
  double* mean_entropy;        // [n] mean of log2 K(k) over k = 0 .. L - 1
  double* branch_entropy;      // [n, L] entropy of the next character among the candidates that agree so far, bits
  std::int32_t* union_size;    // [n, L] distinct characters at a position
  bool* forced;                // [n, L] union_size == 1
  std::uint64_t* cartesian;    // [n] product of the union sizes, 2^64 - 1 where it would be larger
};

// `candidates` is [n, m, L], `gold` [n] the gold's index in its set. Returns the index of the first set whose gold lies outside
// 0 .. m - 1, where it stops, or n.
std::size_t candidate_geometry(std::span<const std::uint8_t> candidates, std::span<const std::int64_t> gold,
                               const GeometryShape& shape, const GeometryColumns& out, const Poll& poll = {});

}  // namespace c2s
