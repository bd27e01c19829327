// Binomial probabilities and tails with full relative accuracy, and what is built from them.
#pragma once

#include <cstdint>

#include "c2s_core/poll.hpp"

namespace c2s {

// P(Bin(n, p) = k) by Loader's saddle-point form (C. Loader, "Fast and accurate computation of binomial probabilities", 2000):
// no cancellation, a few units in the last place for any n. Needs 0 <= p <= 1 and n >= 0; zero outside 0..n.
double binomial_pmf(std::int64_t k, std::int64_t n, double p) noexcept;

// P(Bin(n, p) <= k) and P(Bin(n, p) >= k). The smaller of the two tails at k is summed term by term, some 9 sqrt(n p (1 - p)) of them.
double binomial_lower(std::int64_t k, std::int64_t n, double p, Ticker& tick);
double binomial_upper(std::int64_t k, std::int64_t n, double p, Ticker& tick);

struct ProportionBounds {
  double low;
  double high;
};

// Clopper and Pearson's two-sided interval for k successes in n trials: each tail holds (1 - confidence) / 2.
// 0 <= k <= n, n >= 1, 0 < confidence < 1.
ProportionBounds clopper_pearson(std::int64_t k, std::int64_t n, double confidence, Ticker& tick);

}  // namespace c2s
