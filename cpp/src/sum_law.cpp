#include "c2s_core/sum_law.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>

namespace c2s {
namespace {

std::vector<double> convolve(const std::vector<double>& a, const std::vector<double>& b,
                             Ticker& tick) {
  const auto& outer = a.size() < b.size() ? a : b;
  const auto& inner = a.size() < b.size() ? b : a;
  std::vector<double> out(a.size() + b.size() - 1, 0.0);
  for (std::size_t i = 0; i < outer.size(); ++i) {
    if (outer[i] == 0) continue;
    tick(inner.size());
    for (std::size_t j = 0; j < inner.size(); ++j) out[i + j] += outer[i] * inner[j];
  }
  return out;
}

}  // namespace

SumLaw exact_sum(std::span<const std::int64_t> offsets, std::span<const std::int64_t> value,
                 std::span<const std::int64_t> count, const Poll& poll) {
  SumLaw law{0, {1.0}};
  Ticker tick(poll);
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    const auto begin = static_cast<std::size_t>(offsets[s]), end = static_cast<std::size_t>(offsets[s + 1]);
    std::int64_t n = 0, low = std::numeric_limits<std::int64_t>::max(), high = std::numeric_limits<std::int64_t>::min();
    for (std::size_t j = begin; j < end; ++j) {
      if (count[j] == 0) continue;
      n += count[j];
      low = std::min(low, value[j]);
      high = std::max(high, value[j]);
    }
    if (n == 0) continue;
    std::vector<double> base(static_cast<std::size_t>(high - low) + 1, 0.0);
    for (std::size_t j = begin; j < end; ++j) {
      if (count[j] > 0) base[static_cast<std::size_t>(value[j] - low)] += static_cast<double>(count[j]) / static_cast<double>(n);
    }
    law.low += n * low;
    for (std::int64_t power = n;;) {
      if (power & 1) law.mass = convolve(law.mass, base, tick);
      power >>= 1;
      if (power == 0) break;
      base = convolve(base, base, tick);
    }
  }
  return law;
}

}  // namespace c2s
