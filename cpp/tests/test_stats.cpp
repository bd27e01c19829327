#include <cmath>
#include <cstdint>
#include <map>
#include <thread>
#include <utility>
#include <vector>

#include "c2s_core/binomial.hpp"
#include "c2s_core/exact.hpp"
#include "c2s_core/fft.hpp"
#include "c2s_core/mcnemar.hpp"
#include "c2s_core/select.hpp"
#include "c2s_core/sum_law.hpp"
#include "check.hpp"

namespace {

using Ints = std::vector<std::int64_t>;

void transforms_equal_the_definition() {
  for (const int length : {1, 2, 3, 4, 5, 6, 8, 9, 10, 12, 15, 16, 20, 25, 30, 48, 60, 90, 128, 160}) {
    const auto n = static_cast<std::size_t>(length);
    CHECK(c2s::fft_length(n) == n);
    const std::size_t columns = 3;
    c2s::Planes data, scratch;
    data.resize(n * columns);
    for (std::size_t i = 0; i < n * columns; ++i) {
      data.re[i] = std::sin(1.0 + 3.0 * static_cast<double>(i));
      data.im[i] = std::cos(2.0 * static_cast<double>(i * i % 97));
    }
    const c2s::Planes input = data;
    c2s::fft_columns(data, scratch, n, columns);
    for (std::size_t k = 0; k < n; ++k) {
      for (std::size_t c = 0; c < columns; ++c) {
        double re = 0, im = 0;
        for (std::size_t j = 0; j < n; ++j) {
          const double angle = -6.283185307179586 * static_cast<double>(j * k % n) / static_cast<double>(n);
          re += input.re[j * columns + c] * std::cos(angle) - input.im[j * columns + c] * std::sin(angle);
          im += input.re[j * columns + c] * std::sin(angle) + input.im[j * columns + c] * std::cos(angle);
        }
        CHECK_NEAR(data.re[k * columns + c], re, 1e-12);
        CHECK_NEAR(data.im[k * columns + c], im, 1e-12);
      }
    }
  }
  CHECK(c2s::fft_length(7) == 8 && c2s::fft_length(11) == 12 && c2s::fft_length(145) == 150);
}

void laws_equal_unit_by_unit_convolution() {
  const Ints offsets{0, 3, 5}, x{1, 0, -2, 2, 0}, d{1, 1, 0, 3, 0}, count{3, 2, 1, 2, 4};
  const c2s::RatioCells cells{offsets, x, d, count};
  std::map<std::pair<std::int64_t, std::int64_t>, double> law{{{0, 0}, 1.0}};
  for (std::size_t s = 0; s < 2; ++s) {
    std::int64_t n = 0;
    for (auto j = offsets[s]; j < offsets[s + 1]; ++j) n += count[static_cast<std::size_t>(j)];
    for (std::int64_t unit = 0; unit < n; ++unit) {
      std::map<std::pair<std::int64_t, std::int64_t>, double> grown;
      for (const auto& [state, p] : law) {
        for (auto j = static_cast<std::size_t>(offsets[s]); j < static_cast<std::size_t>(offsets[s + 1]); ++j) {
          grown[{state.first + x[j], state.second + d[j]}] += p * static_cast<double>(count[j]) / static_cast<double>(n);
        }
      }
      law = grown;
    }
  }
  const auto found = c2s::exact_law(cells, c2s::plan_grid(cells));
  double total = 0;
  for (std::size_t i = 0; i < found.mass.size(); ++i) {
    const auto at = law.find({found.x[i], found.d[i]});
    CHECK_NEAR(found.mass[i], at == law.end() ? 0.0 : at->second, 1e-15);
    total += found.mass[i];
  }
  CHECK_NEAR(total, 1.0, 1e-13);
  const auto sum = c2s::exact_sum(offsets, x, count);
  std::map<std::int64_t, double> sums;
  for (const auto& [state, p] : law) sums[state.first] += p;
  for (const auto& [value, p] : sums) CHECK_NEAR(sum.mass[static_cast<std::size_t>(value - sum.low)] / p, 1.0, 1e-12);
}

void quantiles_are_sample_values() {
  std::vector<double> values, mass;
  for (int i = 0; i < 5000; ++i) {
    values.push_back(std::floor(1000 * std::fabs(std::sin(i))));
    mass.push_back(1 + i % 3);
  }
  const std::vector<double> levels{0.001, 0.025, 0.5, 0.975, 1.0};
  const auto found = c2s::quantiles(values, mass, levels);
  double total = 0;
  for (const double m : mass) total += m;
  for (std::size_t q = 0; q < levels.size(); ++q) {
    double below = 0, at_or_below = 0;
    for (std::size_t i = 0; i < values.size(); ++i) {
      if (values[i] < found[q]) below += mass[i];
      if (values[i] <= found[q]) at_or_below += mass[i];
    }
    CHECK(below < levels[q] * total && at_or_below >= (levels[q] - 1e-12) * total);
  }
  const std::vector<double> same(1000, 0.25);
  CHECK(c2s::quantiles(same, {}, levels)[2] == 0.25);
}

void known_tests_and_intervals() {
  const Ints b{50, 0, 1, 3, 600, 600}, c{0, 0, 0, 3, 601, 399};
  std::vector<double> p(b.size());
  c2s::mcnemar_exact(b, c, p.data());
  CHECK(p[0] == 1.7763568394002505e-15);
  CHECK(p[1] == 1.0 && p[2] == 1.0 && p[3] == 1.0);
  for (std::size_t i = 0; i < b.size(); ++i) CHECK(p[i] > 0 && p[i] <= 1);
  c2s::Ticker tick;
  const auto none = c2s::clopper_pearson(0, 59, 0.95, tick);
  CHECK_NEAR(none.high, 1 - std::pow(0.025, 1.0 / 59), 1e-15);
  CHECK(none.low == 0);
  const auto all = c2s::clopper_pearson(48, 48, 0.95, tick);
  CHECK_NEAR(all.low, std::pow(0.025, 1.0 / 48), 1e-15);
  CHECK(all.high == 1);
  CHECK_NEAR(c2s::binomial_lower(6, 20, 0.3, tick) + c2s::binomial_upper(7, 20, 0.3, tick), 1.0, 1e-15);
}

void threads_agree() {
  const Ints offsets{0, 3}, x{1, 0, 0}, d{1, 1, 0}, count{40, 60, 28};
  const c2s::RatioCells cells{offsets, x, d, count};
  const auto expected = c2s::exact_law(cells, c2s::plan_grid(cells));
  std::vector<c2s::Law> found(8);
  std::vector<std::thread> threads;
  for (auto& law : found) threads.emplace_back([&] { law = c2s::exact_law(cells, c2s::plan_grid(cells)); });
  for (auto& thread : threads) thread.join();
  for (const auto& law : found) CHECK(law.mass == expected.mass && law.x == expected.x);
}

}  // namespace

int main() {
  transforms_equal_the_definition();
  laws_equal_unit_by_unit_convolution();
  quantiles_are_sample_values();
  known_tests_and_intervals();
  threads_agree();
  return c2s_test::result();
}
