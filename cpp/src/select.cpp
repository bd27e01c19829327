#include "c2s_core/select.hpp"

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>

#include "c2s_core/simd.hpp"

namespace c2s {
namespace {

constexpr double kSlack = 1e-12;
constexpr std::size_t kBuckets = 4096;
constexpr std::size_t kSmall = 256;
constexpr std::size_t kPiece = std::size_t{1} << 20;  // values from one tick to the next

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
void select(const double* value, const double* mass, std::size_t n, std::span<const double> targets, double* out,
            Ticker& tick) {
  double low = value[0], high = value[0];
  for (std::size_t at = 0; at < n; at += kPiece) {
    const auto [least, most] = std::minmax_element(value + at, value + std::min(n, at + kPiece));
    if (*least < low) low = *least;
    if (*most >= high) high = *most;
    tick(kPiece);
  }
  if (!(high > low)) {
    std::fill_n(out, targets.size(), low);
    return;
  }
  const double scale = (static_cast<double>(kBuckets) - 0.5) / (high - low);
  if (n <= kSmall || !std::isfinite(scale)) {  // the values may lie within a few subnormal steps
    for (std::size_t t = 0; t < targets.size(); ++t) out[t] = select_small(value, mass, n, targets[t]);
    return;
  }
  std::vector<std::int32_t> index(n);
  std::vector<double> sums(kBuckets, 0.0);
  for (std::size_t at = 0; at < n; at += kPiece) {
    const std::size_t end = std::min(n, at + kPiece);
    bucket_indices(value + at, end - at, low, scale, index.data() + at);
    for (std::size_t i = at; i < end; ++i) sums[static_cast<std::size_t>(index[i])] += mass ? mass[i] : 1.0;
    tick(kPiece);
  }
  for (std::size_t t = 0; t < targets.size(); ++t) {
    double target = targets[t];
    std::size_t chosen = 0;
    while (chosen + 1 < kBuckets && sums[chosen] < target) target -= sums[chosen++];
    std::vector<double> inside, inside_mass;
    for (std::size_t at = 0; at < n; at += kPiece) {
      for (std::size_t i = at; i < std::min(n, at + kPiece); ++i) {
        if (static_cast<std::size_t>(index[i]) != chosen) continue;
        inside.push_back(value[i]);
        if (mass) inside_mass.push_back(mass[i]);
      }
      tick(kPiece);
    }
    if (inside.empty()) out[t] = high;  // rounding left a last crumb of the target beyond all values
    else if (inside.size() == n) out[t] = select_small(value, mass, n, target);
    else select(inside.data(), mass ? inside_mass.data() : nullptr, inside.size(), {&target, 1}, out + t, tick);
  }
}

}  // namespace

std::vector<double> quantiles(std::span<const double> values, std::span<const double> mass,
                              std::span<const double> levels, const Poll& poll) {
  Ticker tick(poll);
  double total = 0;
  if (mass.empty()) total = static_cast<double>(values.size());
  for (const double m : mass) total += m;
  std::vector<double> targets, out(levels.size());
  for (const double level : levels) targets.push_back((level - kSlack) * total);
  select(values.data(), mass.empty() ? nullptr : mass.data(), values.size(), targets, out.data(), tick);
  return out;
}

}  // namespace c2s
