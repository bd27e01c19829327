#include "c2s_core/carry.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace c2s {
namespace {

int split(std::uint64_t value, std::uint8_t* digit) noexcept {
  int n = 0;
  do {
    const std::uint64_t rest = value / 10;
    digit[n++] = static_cast<std::uint8_t>(value - 10 * rest);
    value = rest;
  } while (value != 0);
  return n;
}

// Runs of positive carries; a row and the summation each start a new run.
struct Runs {
  std::int32_t positive = 0;
  std::int32_t run = 0;
  std::int32_t longest = 0;

  void begin() noexcept { run = 0; }
  void carry(unsigned value) noexcept {
    const std::int32_t hit = value != 0;
    positive += hit;
    run = (run + 1) * hit;
    longest = std::max(longest, run);
  }
};

struct NoRecord {
  void begin_row() noexcept {}
  void row(unsigned) noexcept {}
  void sum(unsigned) noexcept {}
  void digit(unsigned) noexcept {}
};

struct Record {
  CarryTrace& trace;

  void begin_row() { trace.rows.emplace_back(); }
  void row(unsigned carry) { trace.rows.back().push_back(static_cast<std::uint8_t>(carry)); }
  void sum(unsigned carry) { trace.summation.push_back(static_cast<std::uint8_t>(carry)); }
  void digit(unsigned value) { trace.product.push_back(static_cast<std::uint8_t>(value)); }
};

// The one simulation; what is kept beside the counts is the recorder's business.
template <class Recorder>
CarryCounts simulate(std::uint64_t a, std::uint64_t b, Recorder recorder) {
  // The larger operand is never the shorter one, so "longer, then larger" is "larger".
  if (a < b) std::swap(a, b);
  std::uint8_t top[kMaxDigits], bottom[kMaxDigits];
  const int n = split(a, top);
  const int m = split(b, bottom);

  std::uint16_t column[2 * kMaxDigits] = {};
  int width = 0;
  Runs rows;
  for (int r = 0; r < m; ++r) {
    rows.begin();
    recorder.begin_row();
    unsigned carry = 0;
    for (int j = 0; j < n; ++j) {
      const unsigned value = static_cast<unsigned>(top[j]) * bottom[r] + carry;
      carry = value / 10;
      column[r + j] = static_cast<std::uint16_t>(column[r + j] + (value - 10 * carry));
      rows.carry(carry);
      recorder.row(carry);
    }
    // The last carry is the row's leading digit.
    column[r + n] = static_cast<std::uint16_t>(column[r + n] + carry);
    width = std::max(width, r + n + (carry != 0));
  }

  Runs sum;
  int digits = width;
  if (m > 1) {
    unsigned carry = 0;
    for (int c = 0; c < width; ++c) {
      const unsigned value = column[c] + carry;
      carry = value / 10;
      sum.carry(carry);
      recorder.sum(carry);
      recorder.digit(value - 10 * carry);
    }
    // At most 9: the widest row has at least n + m - 1 digits and the product at most n + m.
    if (carry != 0) recorder.digit(carry);
    digits += carry != 0;
  } else {
    for (int c = 0; c < width; ++c) recorder.digit(column[c]);
  }
  return {rows.positive, sum.positive, std::max(rows.longest, sum.longest), n * m, digits};
}

}  // namespace

bool carry_pair_valid(std::uint64_t a, std::uint64_t b) noexcept {
  return a != 0 && b != 0 && a <= std::numeric_limits<std::uint64_t>::max() / b;
}

CarryCounts carry_counts(std::uint64_t a, std::uint64_t b) noexcept { return simulate(a, b, NoRecord{}); }

CarryTrace carry_trace(std::uint64_t a, std::uint64_t b) {
  CarryTrace trace;
  trace.top = std::max(a, b);
  trace.bottom = std::min(a, b);
  trace.counts = simulate(a, b, Record{trace});
  return trace;
}

namespace {

// Pairs begin to end. Returns the index of the first invalid one, or `end`.
std::size_t count_pairs(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b, const CarryColumns& out,
                        std::size_t begin, std::size_t end) noexcept {
  for (std::size_t i = begin; i < end; ++i) {
    // Read once: what was checked is what is simulated, whatever another thread writes to the array meanwhile.
    const std::uint64_t x = a[i], y = b[i];
    if (!carry_pair_valid(x, y)) return i;
    const CarryCounts counts = carry_counts(x, y);
    out.multiplication_carries[i] = counts.multiplication_carries;
    out.addition_carries[i] = counts.addition_carries;
    out.carries[i] = counts.multiplication_carries + counts.addition_carries;
    out.chain[i] = counts.chain;
    out.elementary[i] = counts.elementary;
    out.digits[i] = counts.digits;
  }
  return end;
}

}  // namespace

std::size_t carry_counts_batch(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                               const CarryColumns& out, const Poll& poll) {
  constexpr std::size_t kPiece = 4096;
  Ticker tick(poll);
  for (std::size_t begin = 0; begin < a.size(); begin += kPiece) {
    const std::size_t end = std::min(a.size(), begin + kPiece);
    const std::size_t done = count_pairs(a, b, out, begin, end);
    if (done < end) return done;
    tick(64 * kPiece);
  }
  return a.size();
}

}  // namespace c2s
