// The cells of a stratified ratio or sum, checked: what register_exact.cpp and register_resample.cpp share.
#pragma once

#include "arrays.hpp"
#include "c2s_core/exact.hpp"

namespace c2s::bindings {

inline void need_cells(std::span<const std::int64_t> offsets, std::size_t cells, std::span<const std::int64_t> count) {
  need_offsets(offsets, cells, "cells");
  need_counts("count", count);
  need_sum("count", count, kMaxCount, "below 2**53");
}

inline RatioCells cells_of(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
                           const In<std::int64_t>& count) {
  const RatioCells cells{list("offsets", offsets), list("x", x), list("d", d), list("count", count)};
  need(cells.x.size() == cells.d.size() && cells.x.size() == cells.count.size(), "x, d and count must be of equal length");
  need_cells(cells.offsets, cells.x.size(), cells.count);
  need_each("d", cells.d, "at least 0", [](std::int64_t v) { return v >= 0; });
  return cells;
}

inline void need_cost(double max_cost) { need(max_cost >= 0, "max_cost must be at least 0"); }

inline void need_affordable(double cost) {
  need(cost <= kMaxLawCost, "x, d and count: the law would cost more than 2**26 grid points");
}

// A sum of count units of each stratum: how many values it can take, and that it fits. The values are at most 2^53.
inline void need_sum_width(std::span<const std::int64_t> offsets, std::span<const std::int64_t> value,
                           std::span<const std::int64_t> count) {
  double width = 1, reach = 0;
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    double units = 0, low = std::numeric_limits<double>::infinity(), high = -low;
    for (auto j = static_cast<std::size_t>(offsets[s]); j < static_cast<std::size_t>(offsets[s + 1]); ++j) {
      if (count[j] == 0) continue;
      units += static_cast<double>(count[j]);
      low = std::min(low, static_cast<double>(value[j]));
      high = std::max(high, static_cast<double>(value[j]));
    }
    if (units == 0) continue;
    width += units * (high - low);
    reach += units * std::max(std::fabs(low), std::fabs(high));
  }
  need(width <= 1 << 22, "value and count: the sum must take at most 2**22 values");
  need(reach <= 9007199254740992.0, "value and count: the sum must stay within 2**53");
}

}  // namespace c2s::bindings
