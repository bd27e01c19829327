#include "c2s_core/signflip.hpp"

#include <algorithm>
#include <array>
#include <vector>

#include "c2s_core/parallel.hpp"
#include "c2s_core/rng.hpp"

namespace c2s {

void signflip_law(std::span<const std::int64_t> magnitude, double* out, const Poll& poll) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  Ticker tick(poll);
  std::size_t top = 0;
  out[0] = 1;
  for (const std::int64_t m : magnitude) {
    const auto step = static_cast<std::size_t>(m);
    if (step == 0) continue;
    std::fill(out + top + 1, out + top + 1 + step, 0.0);
    top += step;
    for (std::size_t end = top + 1; end > step;) {
      const std::size_t begin = end - std::min(kPiece, end - step);
      for (std::size_t t = end; t-- > begin;) out[t] = 0.5 * (out[t] + out[t - step]);
      tick(end - begin);
      end = begin;
    }
    for (std::size_t t = 0; t < step; ++t) out[t] *= 0.5;
    tick(step);
  }
}

void signflip_sums(std::span<const double> difference, const DrawRange& draws, int threads, double* out,
                   const Poll& poll) {
  // For every byte of random bits, the signed sum of the eight differences that it decides.
  const std::size_t bytes = (difference.size() + 7) / 8;
  Ticker filling(poll);
  std::vector<std::array<double, 256>> sums(bytes);
  for (std::size_t b = 0; b < bytes; ++b) {
    filling(1024);
    for (std::size_t bits = 0; bits < 256; ++bits) {
      double sum = 0;
      for (std::size_t j = 0; j < 8 && 8 * b + j < difference.size(); ++j) {
        sum += bits >> j & 1 ? difference[8 * b + j] : -difference[8 * b + j];
      }
      sums[b][bits] = sum;
    }
  }
  parallel_ranges(draws.count, threads, poll, [&](std::size_t begin, std::size_t end, Ticker& tick) {
    const std::size_t blocks = (bytes + 15) / 16;
    std::vector<std::uint32_t> words(4 * philox_padded(blocks));
    for (std::size_t t = begin; t < end; ++t) {
      tick(8 + bytes);
      philox_blocks(draws.seed, Stream::kSigns, draws.first + t, 0, blocks, words.data());
      double sum = 0;
      for (std::size_t b = 0; b < bytes; ++b) sum += sums[b][words[b / 4] >> (8 * (b % 4)) & 0xff];
      out[t] = sum;
    }
  });
}

}  // namespace c2s
