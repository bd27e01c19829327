// The bootstrap with infinitely many draws: the law of a stratified ratio whose numerator and denominator are redrawn together.
//
// Stratum s redraws its n_s units with replacement. A unit adds (x, d), two integers, so the draw's totals (X, D) are a sum of
// independent multinomials and their law is a convolution of the strata. It is computed on a grid of characteristic-function
// values: the product over strata of phi_s(w)^n_s, brought back by a two-dimensional FFT. The grid covers the totals up to
// tails of 1e-15 (Chernoff), so every probability is right to about 1e-14 absolute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c2s_core/poll.hpp"

namespace c2s {

// What the strata hold, flattened: cell j of stratum s, offsets[s] <= j < offsets[s + 1], has `count[j]` units that add
// (x[j], d[j]). The counts of a stratum sum to its number of units; d is never negative.
struct RatioCells {
  std::span<const std::int64_t> offsets;  // [strata + 1]
  std::span<const std::int64_t> x;
  std::span<const std::int64_t> d;
  std::span<const std::int64_t> count;

  std::size_t strata() const noexcept { return offsets.size() - 1; }
};

// Two coordinates (a, b), each x, d or d - x, whose grid is the smallest that holds the law.
struct Grid {
  int a_x, a_d, b_x, b_d;          // a = a_x x + a_d d, b = b_x x + b_d d, a unimodular map
  std::int64_t a_low, b_low;       // least totals that the grid holds
  std::size_t a_size, b_size;      // lengths of the transforms
  double points() const noexcept { return static_cast<double>(a_size) * static_cast<double>(b_size); }
};

Grid plan_grid(const RatioCells& cells, const Poll& poll = {});

// What the law costs, in grid points of a case with few cells: bounds its time and memory (about 0.1 us and 50 bytes each).
// Infinite where a total may reach 2^53, beyond which doubles skip integers.
double law_cost(const RatioCells& cells, const Grid& grid) noexcept;

// No law that costs more is computed: some seconds and 4 GB.
inline constexpr double kMaxLawCost = 1 << 26;

// The states (X, D) of positive probability, in no particular order.
struct Law {
  std::vector<std::int64_t> x;
  std::vector<std::int64_t> d;
  std::vector<double> mass;
};

// The grid is one whose law_cost is finite.
Law exact_law(const RatioCells& cells, const Grid& grid, const Poll& poll = {});

struct RatioSummary {
  double undefined;  // P(D = 0), exact to rounding however small
  double mean;       // of X / D over defined draws
  double sd;
  std::vector<double> quantiles;  // one per level, over defined draws
};

// At least one state with D > 0 is needed.
RatioSummary summarise(const RatioCells& cells, const Law& law, std::span<const double> levels, const Poll& poll = {});

// P(D = 0).
double undefined_probability(const RatioCells& cells);

}  // namespace c2s
