#include "c2s_core/select.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

#include "c2s_core/simd.hpp"

namespace c2s {
namespace {

constexpr double kSlack = 1e-12;
constexpr std::size_t kBuckets = 4096;
constexpr std::size_t kSmall = 256;

C2S_WIDE void bucket_indices(const double* values, std::size_t n, double low, double scale, std::int32_t* out) {
  for (std::size_t i = 0; i < n; ++i) out[i] = static_cast<std::int32_t>((values[i] - low) * scale);
}


double select_small(const double* value, const double* mass, std::size_t n, double target) {
  std::vector<std::uint32_t> order(n);
  for (std::size_t i = 0; i < n; ++i) order[i] = static_cast<std::uint32_t>(i);
  std::sort(order.begin(), order.end(), [&](auto a, auto b) { return value[a] < value[b]; });
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) {
    sum += mass ? mass[order[i]] : 1.0;
    const bool last_of_its_value = i + 1 == n || value[order[i + 1]] > value[order[i]];
    if (last_of_its_value && sum >= target) return value[order[i]];
  }
  return value[order[n - 1]];
}

// Values are poured into equal buckets between their extremes; only the buckets that hold a quantile are looked at again.
// `targets` are cumulated masses; the answers go to out.
void select(const double* value, const double* mass, std::size_t n, std::span<const double> targets, double* out) {
  const auto [least, most] = std::minmax_element(value, value + n);
  const double low = *least, high = *most;
  if (!(high > low)) {
    std::fill_n(out, targets.size(), low);
    return;
  }
  if (n <= kSmall) {
    for (std::size_t t = 0; t < targets.size(); ++t) out[t] = select_small(value, mass, n, targets[t]);
    return;
  }
  std::vector<std::int32_t> index(n);
  bucket_indices(value, n, low, (static_cast<double>(kBuckets) - 0.5) / (high - low), index.data());
  std::vector<double> sums(kBuckets, 0.0);
  for (std::size_t i = 0; i < n; ++i) sums[static_cast<std::size_t>(index[i])] += mass ? mass[i] : 1.0;
  for (std::size_t t = 0; t < targets.size(); ++t) {
    double target = targets[t];
    std::size_t chosen = 0;
    while (chosen + 1 < kBuckets && sums[chosen] < target) target -= sums[chosen++];
    std::vector<double> inside, inside_mass;
    for (std::size_t i = 0; i < n; ++i) {
      if (static_cast<std::size_t>(index[i]) != chosen) continue;
      inside.push_back(value[i]);
      if (mass) inside_mass.push_back(mass[i]);
    }
    if (inside.empty()) out[t] = high;  // rounding left a last crumb of the target beyond all values
    else if (inside.size() == n) out[t] = select_small(value, mass, n, target);
    else select(inside.data(), mass ? inside_mass.data() : nullptr, inside.size(), {&target, 1}, out + t);
  }
}

}  // namespace

std::vector<double> quantiles(std::span<const double> values, std::span<const double> mass,
                              std::span<const double> levels) {
  double total = 0;
  if (mass.empty()) total = static_cast<double>(values.size());
  for (const double m : mass) total += m;
  std::vector<double> targets, out(levels.size());
  for (const double level : levels) targets.push_back((level - kSlack) * total);
  select(values.data(), mass.empty() ? nullptr : mass.data(), values.size(), targets, out.data());
  return out;
}

}  // namespace c2s
