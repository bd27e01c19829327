#include <cstdint>
#include <limits>
#include <thread>
#include <vector>

#include "c2s_core/carry.hpp"
#include "check.hpp"

namespace {

using c2s::CarryTrace;
using Row = std::vector<std::uint8_t>;

std::uint64_t value_of(const Row& digits) {
  std::uint64_t value = 0;
  for (std::size_t i = digits.size(); i-- > 0;) value = 10 * value + digits[i];
  return value;
}

// Recounted from the trace's own rows, without the running counters.
void check_counts(const CarryTrace& t) {
  int multiplication = 0, addition = 0, longest = 0;
  const auto count = [&longest](const Row& row, int& total) {
    int run = 0;
    for (const int carry : row) {
      total += carry > 0;
      run = carry > 0 ? run + 1 : 0;
      if (run > longest) longest = run;
    }
  };
  for (const auto& row : t.rows) count(row, multiplication);
  count(t.summation, addition);
  CHECK(t.counts.multiplication_carries == multiplication);
  CHECK(t.counts.addition_carries == addition);
  CHECK(t.counts.chain == longest);
  CHECK(t.counts.elementary == static_cast<int>(t.rows.size() * t.rows[0].size()));
  CHECK(t.counts.digits == static_cast<int>(t.product.size()));
}

void paper_example() {
  const CarryTrace t = c2s::carry_trace(15, 39);
  CHECK(t.top == 39 && t.bottom == 15);
  CHECK((t.rows == std::vector<Row>{{4, 1}, {0, 0}}));
  CHECK((t.summation == Row{0, 1, 0}));
  CHECK(t.counts.multiplication_carries == 2 && t.counts.addition_carries == 1 && t.counts.chain == 2);
}

void every_small_product() {
  for (std::uint64_t a = 1; a < 700; ++a) {
    for (std::uint64_t b = 1; b <= a; ++b) {
      const CarryTrace t = c2s::carry_trace(a, b);
      CHECK(value_of(t.product) == a * b);
      check_counts(t);
    }
  }
}

void extremes() {
  const auto max = std::numeric_limits<std::uint64_t>::max();
  CHECK(c2s::carry_pair_valid(max, 1) && c2s::carry_pair_valid(1, max));
  CHECK(!c2s::carry_pair_valid(max, 2) && !c2s::carry_pair_valid(0, 5) && !c2s::carry_pair_valid(5, 0));
  CHECK(value_of(c2s::carry_trace(max, 1).product) == max);
  const std::uint64_t big = 4294967295;  // its square is just below 2^64
  const CarryTrace t = c2s::carry_trace(big, big);
  CHECK(value_of(t.product) == big * big);
  check_counts(t);
}

struct Columns {
  std::vector<std::int32_t> values;
  explicit Columns(std::size_t n) : values(6 * n) {}
  c2s::CarryColumns out() {
    const std::size_t n = values.size() / 6;
    std::int32_t* p = values.data();
    return {p, p + n, p + 2 * n, p + 3 * n, p + 4 * n, p + 5 * n};
  }
};

void batch_stops_at_the_first_bad_pair() {
  const std::vector<std::uint64_t> a{39, 0, 7}, b{15, 3, 8};
  Columns columns(3);
  CHECK(c2s::carry_counts_batch(a, b, columns.out()) == 1);
  CHECK(columns.values[6] == 3);  // carries of 39 x 15
  CHECK(c2s::carry_counts_batch({}, {}, Columns(0).out()) == 0);
}

void threads_agree() {
  std::vector<std::uint64_t> a, b;
  for (std::uint64_t i = 0; i < 5000; ++i) {
    a.push_back(1 + i * 7919 % 99991);
    b.push_back(1 + i * 104729 % 9973);
  }
  Columns expected(a.size());
  CHECK(c2s::carry_counts_batch(a, b, expected.out()) == a.size());
  std::vector<Columns> found(8, Columns(a.size()));
  std::vector<std::thread> threads;
  for (auto& columns : found) threads.emplace_back([&] { c2s::carry_counts_batch(a, b, columns.out()); });
  for (auto& thread : threads) thread.join();
  for (const auto& columns : found) CHECK(columns.values == expected.values);
}

}  // namespace

int main() {
  paper_example();
  every_small_product();
  extremes();
  batch_stops_at_the_first_bad_pair();
  threads_agree();
  return c2s_test::result();
}
