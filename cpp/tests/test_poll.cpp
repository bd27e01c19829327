// A poll that throws stops a kernel, on one thread and on several; a poll that does not changes nothing.
#include <array>
#include <atomic>
#include <chrono>
#include <cstdint>
#include <functional>
#include <limits>
#include <stdexcept>
#include <thread>
#include <vector>

#include "c2s_core/binomial.hpp"
#include "c2s_core/bootstrap.hpp"
#include "c2s_core/carry.hpp"
#include "c2s_core/mcnemar.hpp"
#include "c2s_core/parallel.hpp"
#include "c2s_core/select.hpp"
#include "c2s_core/signflip.hpp"
#include "c2s_core/sum_law.hpp"
#include "check.hpp"

namespace {

struct Interrupt {};

// Whether `work` ends by the exception that its poll throws at the given call.
bool stops(int at, const std::function<void(const c2s::Poll&)>& work) {
  int calls = 0;
  try {
    work([&] {
      if (++calls == at) throw Interrupt{};
    });
  } catch (const Interrupt&) {
    return true;
  }
  return false;
}

void every_kernel_stops() {
  const std::vector<std::int64_t> big(1000, std::int64_t{1} << 40), one(1, 1), offsets{0, 3}, two{0, 1};
  std::vector<double> out(1000);
  CHECK(stops(2, [&](const c2s::Poll& poll) {
    std::vector<std::int64_t> less(1000, (std::int64_t{1} << 40) - 1);
    c2s::mcnemar_exact(big, less, out.data(), poll);
  }));
  const std::vector<std::uint64_t> operand(200'000, 123'456);
  std::vector<std::int32_t> column(operand.size());
  const c2s::CarryColumns columns{column.data(), column.data(), column.data(), column.data(), column.data(), column.data()};
  CHECK(stops(3, [&](const c2s::Poll& poll) { c2s::carry_counts_batch(operand, operand, columns, poll); }));
  const std::vector<std::int64_t> x{0, 1, 2}, d{1, 1, 2}, count{900, 500, 700}, wide{0, 1, 60};
  CHECK(stops(3, [&](const c2s::Poll& poll) { c2s::exact_law({offsets, x, d, count}, c2s::plan_grid({offsets, x, d, count}), poll); }));
  CHECK(stops(3, [&](const c2s::Poll& poll) { c2s::exact_sum(offsets, wide, count, poll); }));
  const std::vector<std::int64_t> magnitude(3000, 7);
  std::vector<double> law(21'001);
  CHECK(stops(3, [&](const c2s::Poll& poll) { c2s::signflip_law(magnitude, law.data(), poll); }));
  std::vector<double> values(1 << 22);
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<double>(i * 7919 % values.size());
  CHECK(stops(3, [&](const c2s::Poll& poll) { c2s::quantiles(values, {}, std::array{0.5}, poll); }));
}

void draws_stop_on_every_thread() {
  const std::vector<std::int64_t> offsets{0, 1000};
  const std::vector<double> values(1000, 0.5);
  std::vector<double> out(40'000);
  for (const int threads : {1, 2, 8}) {
    const auto resampled = [&](const c2s::Poll& poll) {
      c2s::resample_sums(offsets, values, 1, {1, 0, out.size()}, threads, out.data(), poll);
    };
    CHECK(stops(2, resampled));
    CHECK(!stops(std::numeric_limits<int>::max(), resampled));
  }
}

// The calling thread goes on looking for a reason to stop after its own part has ended.
void the_caller_polls_while_others_work() {
  std::atomic<bool> ended{false};
  CHECK(stops(1, [&](const c2s::Poll& poll) {
    c2s::parallel_ranges(4, 4, poll, [&](std::size_t begin, std::size_t, c2s::Ticker& tick) {
      if (begin == 0) return;
      for (int i = 0; i < 100'000; ++i) {  // ten seconds, unless it is stopped
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        tick(std::size_t{1} << 20);
      }
      ended = true;
    });
  }));
  CHECK(!ended);
}

void an_error_of_a_part_reaches_the_caller() {
  for (const std::size_t part : {0u, 1u, 3u}) {
    bool caught = false;
    try {
      c2s::parallel_ranges(4, 4, {}, [&](std::size_t begin, std::size_t, c2s::Ticker&) {
        if (begin == part) throw std::runtime_error("part");
      });
    } catch (const std::runtime_error&) {
      caught = true;
    }
    CHECK(caught);
  }
}

// Values that lie a few subnormal steps apart leave no room for buckets.
void quantiles_of_subnormal_values() {
  std::vector<double> values(1000);
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<double>(i % 10) * std::numeric_limits<double>::denorm_min();
  }
  CHECK(c2s::quantiles(values, {}, std::array{0.5})[0] == 4 * std::numeric_limits<double>::denorm_min());
}

// The law of totals beyond 2^53 is not computed: doubles skip integers there.
void totals_beyond_doubles_have_no_finite_cost() {
  const std::vector<std::int64_t> offsets{0, 2}, x{0, std::int64_t{1} << 60}, d{1, 1}, count{3, 4};
  const c2s::RatioCells cells{offsets, x, d, count};
  CHECK(std::isinf(c2s::law_cost(cells, c2s::plan_grid(cells))));
  const c2s::Multinomial tables(cells, std::array{1.0}, std::array{1.0}, std::numeric_limits<double>::infinity());
  CHECK(std::isinf(tables.too_large()) && tables.tables() == 0);
}

}  // namespace

int main() {
  every_kernel_stops();
  draws_stop_on_every_thread();
  the_caller_polls_while_others_work();
  an_error_of_a_part_reaches_the_caller();
  quantiles_of_subnormal_values();
  totals_beyond_doubles_have_no_finite_cost();
  return c2s_test::result();
}
