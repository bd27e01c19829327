#include "c2s_core/binomial.hpp"

#include <algorithm>
#include <cmath>

namespace c2s {
namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;

// log(n!) - log(sqrt(2 pi n) (n/e)^n), the error of Stirling's formula: exact values up to 15, then its series.
double stirling_error(double n) noexcept {
  static constexpr double kExact[16] = {
      0.0,
      0.0810614667953272582196702635943824,
      0.0413406959554092940938220814071108,
      0.0276779256849983391487892927462447,
      0.0207906721037650931115277151778488,
      0.0166446911898211921631948653735933,
      0.0138761288230707479987455727026762,
      0.0118967099458917700950557241176594,
      0.0104112652619720964974783567132534,
      0.00925546218271273291772863663310013,
      0.00833056343336287125646931865962855,
      0.00757367548795184079497202421159508,
      0.00694284010720952986566415266347536,
      0.00640899418800420706843963108297831,
      0.00595137011275884773562441604646945,
      0.00555473355196280137103868995979228,
  };
  if (n <= 15.0) return kExact[static_cast<int>(n)];
  const double nn = n * n;
  constexpr double s0 = 1.0 / 12, s1 = 1.0 / 360, s2 = 1.0 / 1260, s3 = 1.0 / 1680, s4 = 1.0 / 1188;
  return (s0 - (s1 - (s2 - (s3 - s4 / nn) / nn) / nn) / nn) / n;
}

// x log(x / m) + m - x without cancellation near x = m.
double deviance(double x, double m) noexcept {
  if (std::fabs(x - m) < 0.1 * (x + m)) {
    const double v = (x - m) / (x + m);
    double sum = (x - m) * v;
    double term = 2 * x * v;
    for (int j = 1; j < 1000; ++j) {
      term *= v * v;
      const double next = sum + term / (2 * j + 1);
      if (next == sum) break;
      sum = next;
    }
    return sum;
  }
  return x * std::log(x / m) + m - x;
}

// The probability of success and of failure, both given: 1 - (1 - p) would lose a small p.
struct Odds {
  double p;
  double q;
};

double pmf(std::int64_t k, std::int64_t n, Odds o) noexcept {
  if (k < 0 || k > n) return 0;
  if (o.p <= 0) return k == 0;
  if (o.q <= 0) return k == n;
  const double dn = static_cast<double>(n), dk = static_cast<double>(k), dr = static_cast<double>(n - k);
  if (k == 0) return o.p < 0.1 ? std::exp(dn * std::log1p(-o.p)) : std::pow(o.q, dn);
  if (k == n) return o.q < 0.1 ? std::exp(dn * std::log1p(-o.q)) : std::pow(o.p, dn);
  const double log_part = stirling_error(dn) - stirling_error(dk) - stirling_error(dr) - deviance(dk, dn * o.p) -
                          deviance(dr, dn * o.q);
  return std::exp(log_part) * std::sqrt(dn / (kTwoPi * dk * dr));
}

// Sum of P(X = k), P(X = k - 1), ... P(X = 0); the terms fall when k is at or below the mode.
double sum_down(std::int64_t k, std::int64_t n, Odds o, Ticker& tick) {
  double term = pmf(k, n, o);
  double sum = term;
  const double ratio = o.q / o.p;
  for (std::int64_t j = k; j > 0; --j) {
    term *= ratio * static_cast<double>(j) / static_cast<double>(n - j + 1);
    sum += term;
    if (term <= sum * 1e-18 || term < 1e-300) break;  // a subnormal term may never reach zero
    tick();
  }
  return sum;
}

double lower(std::int64_t k, std::int64_t n, Odds o, Ticker& tick) {
  if (k < 0) return 0;
  if (k >= n || o.p <= 0) return 1;
  if (o.q <= 0) return 0;
  if (static_cast<double>(k) <= static_cast<double>(n) * o.p) return std::min(1.0, sum_down(k, n, o, tick));
  return std::max(0.0, 1 - sum_down(n - k - 1, n, {o.q, o.p}, tick));
}

// Newton on log(tail(p)) - log(target) inside a shrinking bracket; `tail` rises with p if `rising`, else it falls.
template <class Tail, class Slope>
double solve(double low, double high, double target, bool rising, const Tail& tail, const Slope& slope) {
  double p = 0.5 * (low + high), last = 1;
  for (int i = 0; i < 200; ++i) {
    const double now = tail(p);
    const double value = std::log(now) - target;
    ((value > 0) == rising ? high : low) = p;
    double next = p - value * now / slope(p);
    const double step = std::fabs(next - p);
    // Done at the last digit, or where only the rounding of the tail still moves the root.
    if (std::fabs(value) < 1e-6 && (step <= 4e-16 * p || step > 0.5 * last)) return p;
    if (!(next > low && next < high)) next = 0.5 * (low + high);
    last = step;
    p = next;
  }
  return p;
}

// The p at which P(Bin(n, p) >= k) = exp(target), 1 <= k <= n.
double low_end(std::int64_t k, std::int64_t n, double target, Ticker& tick) {
  const double dk = static_cast<double>(k), dn = static_cast<double>(n);
  if (k == n) return std::exp(target / dn);
  return solve(
      0.0, dk / dn, target, true, [=, &tick](double p) { return sum_down(n - k, n, {1 - p, p}, tick); },
      [=](double p) { return pmf(k, n, {p, 1 - p}) * dk / p; });
}

// The p at which P(Bin(n, p) <= k) = exp(target), 0 <= k < n.
double high_end(std::int64_t k, std::int64_t n, double target, Ticker& tick) {
  const double dk = static_cast<double>(k), dn = static_cast<double>(n);
  if (k == 0) return -std::expm1(target / dn);
  return solve(
      dk / dn, 1.0, target, false, [=, &tick](double p) { return sum_down(k, n, {p, 1 - p}, tick); },
      [=](double p) { return -pmf(k, n, {p, 1 - p}) * (dn - dk) / (1 - p); });
}

}  // namespace

double binomial_pmf(std::int64_t k, std::int64_t n, double p) noexcept { return pmf(k, n, {p, 1 - p}); }

double binomial_lower(std::int64_t k, std::int64_t n, double p, Ticker& tick) { return lower(k, n, {p, 1 - p}, tick); }

double binomial_upper(std::int64_t k, std::int64_t n, double p, Ticker& tick) { return lower(n - k, n, {1 - p, p}, tick); }

ProportionBounds clopper_pearson(std::int64_t k, std::int64_t n, double confidence, Ticker& tick) {
  tick(64);
  const double target = std::log((1 - confidence) / 2);
  return {k == 0 ? 0.0 : low_end(k, n, target, tick), k == n ? 1.0 : high_end(k, n, target, tick)};
}

}  // namespace c2s
