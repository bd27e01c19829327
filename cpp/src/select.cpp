#include "c2s_core/select.hpp"

#include <algorithm>
#include <cstddef>

namespace c2s {
namespace {

constexpr double kSlack = 1e-12;
constexpr std::size_t kBuckets = 2048;
constexpr std::size_t kSmall = 512;

struct Atom {
  double value;
  double mass;
};

double select_sorted(std::vector<Atom>& atoms, double target) {
  std::sort(atoms.begin(), atoms.end(), [](const Atom& a, const Atom& b) { return a.value < b.value; });
  double sum = 0;
  for (std::size_t i = 0; i < atoms.size(); ++i) {
    sum += atoms[i].mass;
    const bool last_of_its_value = i + 1 == atoms.size() || atoms[i + 1].value > atoms[i].value;
    if (last_of_its_value && sum >= target) return atoms[i].value;
  }
  return atoms.back().value;
}

// Values are poured into equal buckets between their extremes; only the bucket that holds the quantile is looked at again.
double select(std::vector<Atom> atoms, double target) {
  std::vector<double> sums(kBuckets);
  std::vector<Atom> inside;
  while (atoms.size() > kSmall) {
    const auto [least, most] = std::minmax_element(
        atoms.begin(), atoms.end(), [](const Atom& a, const Atom& b) { return a.value < b.value; });
    const double low = least->value, high = most->value;
    if (!(high > low)) return low;
    const double scale = (static_cast<double>(kBuckets) - 0.5) / (high - low);
    const auto bucket = [&](double v) {
      return std::min(kBuckets - 1, static_cast<std::size_t>((v - low) * scale));
    };
    std::fill(sums.begin(), sums.end(), 0.0);
    for (const Atom& a : atoms) sums[bucket(a.value)] += a.mass;
    std::size_t chosen = 0;
    while (chosen + 1 < kBuckets && sums[chosen] < target) target -= sums[chosen++];
    inside.clear();
    for (const Atom& a : atoms) {
      if (bucket(a.value) == chosen) inside.push_back(a);
    }
    if (inside.empty()) return high;  // rounding left a last crumb of the target beyond all values
    if (inside.size() == atoms.size()) break;
    atoms.swap(inside);
  }
  return select_sorted(atoms, target);
}

}  // namespace

std::vector<double> quantiles(std::span<const double> values, std::span<const double> mass,
                              std::span<const double> levels) {
  std::vector<Atom> atoms;
  atoms.reserve(values.size());
  double total = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    const double m = mass.empty() ? 1.0 : mass[i];
    if (m <= 0) continue;
    atoms.push_back({values[i], m});
    total += m;
  }
  std::vector<double> out;
  for (const double level : levels) out.push_back(select(atoms, (level - kSlack) * total));
  return out;
}

}  // namespace c2s
