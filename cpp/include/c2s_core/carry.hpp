// Grade-school multiplication of two positive integers, column by column, with its carries (paper A.2).
//
// The longer (then larger) operand stands on top. Every digit of the other one, least significant first, gives a row;
// column j of row r has the outgoing carry floor((top_j * bottom_r + c) / 10), the last one included. If there is more than one
// row, the shifted rows are added column by column over the width of the widest one, again with one outgoing carry per column.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c2s_core/poll.hpp"

namespace c2s {

// A uint64 has at most 20 decimal digits, so the rows of a pair cover at most 40 columns.
inline constexpr int kMaxDigits = 20;

struct CarryCounts {
  std::int32_t multiplication_carries;  // positive outgoing carries of all rows
  std::int32_t addition_carries;        // positive outgoing carries of the summation
  std::int32_t chain;                   // longest run of positive carries inside one row or inside the summation
  std::int32_t elementary;              // single-digit multiplications: rows times columns
  std::int32_t digits;                  // digits of the product
};

struct CarryTrace {
  std::uint64_t top = 0;
  std::uint64_t bottom = 0;
  std::vector<std::vector<std::uint8_t>> rows;  // outgoing carries, least significant column first
  std::vector<std::uint8_t> summation;          // empty when there is one row
  std::vector<std::uint8_t> product;            // digits that the simulated columns leave, least significant first
  CarryCounts counts{};
};

// Both operands at least 1 and the product below 2^64.
bool carry_pair_valid(std::uint64_t a, std::uint64_t b) noexcept;

// The pair must be valid.
CarryCounts carry_counts(std::uint64_t a, std::uint64_t b) noexcept;
CarryTrace carry_trace(std::uint64_t a, std::uint64_t b);

// One column per count, each as long as the batch.
struct CarryColumns {
  std::int32_t* multiplication_carries;
  std::int32_t* addition_carries;
  std::int32_t* carries;
  std::int32_t* chain;
  std::int32_t* elementary;
  std::int32_t* digits;
};

// Fills `out` pair by pair. Returns the index of the first invalid pair, where it stops, or the batch's size.
std::size_t carry_counts_batch(std::span<const std::uint64_t> a, std::span<const std::uint64_t> b,
                               const CarryColumns& out, const Poll& poll = {});

}  // namespace c2s
