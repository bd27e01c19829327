#include "c2s_core/mcnemar.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include "c2s_core/binomial.hpp"

namespace c2s {
namespace {

// Up to here 2^-n is a normal double, and summing up from it loses nothing.
constexpr std::int64_t kTabulated = 1000;

double two_sided(double lower) noexcept { return std::min(1.0, 2 * lower); }

}  // namespace

void mcnemar_exact(std::span<const std::int64_t> b, std::span<const std::int64_t> c, double* out,
                   const Poll& poll) {
  Ticker tick(poll);
  // Pairs with the same b + c share one row of cumulated probabilities: group them by a counting sort.
  std::vector<std::size_t> start(kTabulated + 2, 0);
  std::vector<std::int64_t> deepest(kTabulated + 1, -1);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::int64_t n = b[i] + c[i], k = std::min(b[i], c[i]);
    tick();
    if (n > kTabulated) {
      out[i] = b[i] == c[i] ? 1.0 : two_sided(binomial_lower(k, n, 0.5, tick));
      continue;
    }
    ++start[static_cast<std::size_t>(n) + 1];
    deepest[static_cast<std::size_t>(n)] = std::max(deepest[static_cast<std::size_t>(n)], k);
  }
  for (std::size_t n = 0; n <= kTabulated; ++n) start[n + 1] += start[n];
  std::vector<std::size_t> order(start[kTabulated + 1]), next(start.begin(), start.end() - 1);
  for (std::size_t i = 0; i < b.size(); ++i) {
    const std::int64_t n = b[i] + c[i];
    tick();
    if (n <= kTabulated) order[next[static_cast<std::size_t>(n)]++] = i;
  }
  std::vector<double> row(kTabulated / 2 + 1);
  for (std::int64_t n = 0; n <= kTabulated; ++n) {
    const auto at = static_cast<std::size_t>(n);
    if (deepest[at] < 0) continue;
    double term = std::ldexp(1.0, -static_cast<int>(n)), sum = term;
    row[0] = sum;
    for (std::int64_t k = 1; k <= deepest[at]; ++k) {
      term *= static_cast<double>(n - k + 1) / static_cast<double>(k);
      sum += term;
      row[static_cast<std::size_t>(k)] = sum;
    }
    for (std::size_t j = start[at]; j < start[at + 1]; ++j) {
      const std::size_t i = order[j];
      tick();
      out[i] = b[i] == c[i] ? 1.0 : two_sided(row[static_cast<std::size_t>(std::min(b[i], c[i]))]);
    }
  }
}

}  // namespace c2s
