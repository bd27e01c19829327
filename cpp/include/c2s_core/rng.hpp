// Philox4x32-10, a counter-based generator (Salmon, Moraes, Dror and Shaw 2011): every word is a pure function of (seed, stream,
// draw, block), so that no result depends on threads, batches or the order of calls.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace c2s {

using PhiloxCounter = std::array<std::uint32_t, 4>;
using PhiloxKey = std::array<std::uint32_t, 2>;

PhiloxCounter philox4x32_10(PhiloxCounter counter, PhiloxKey key) noexcept;

// Which numbers a kernel draws; two kernels never share words.
enum class Stream : std::uint32_t { kItems = 1, kMultinomial = 2, kSigns = 3 };

// The counter is (block, stream, low half of draw, high half of draw), the key the halves of the seed.

// Words of `blocks` successive blocks of one draw, from `first_block` on: out[4 * i + j] is word j of block first_block + i.
// out has room for 4 * philox_padded(blocks) words.
void philox_blocks(std::uint64_t seed, Stream stream, std::uint64_t draw, std::uint32_t first_block, std::size_t blocks,
                   std::uint32_t* out) noexcept;

// One block each of `draws` successive draws: out[4 * i + j] is word j of that block of draw first_draw + i.
// out has room for 4 * philox_padded(draws) words.
void philox_draws(std::uint64_t seed, Stream stream, std::uint64_t first_draw, std::uint32_t block, std::size_t draws,
                  std::uint32_t* out) noexcept;

// The kernels write whole groups: what follows the last wanted block is overwritten too.
constexpr std::size_t philox_padded(std::size_t n) noexcept { return (n + 31) / 32 * 32; }

// The instruction set in use, for tests and for the curious: "avx512", "avx2" or "scalar".
const char* philox_level() noexcept;

// Forces a level that the machine has (or returns false); for tests that all levels agree.
bool philox_force(const char* level) noexcept;

}  // namespace c2s
