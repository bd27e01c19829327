#include "c2s_core/resample.hpp"

#include "c2s_core/parallel.hpp"
#include "c2s_core/picks.hpp"

namespace c2s {
namespace {

// Columns known at compile time keep the sums in registers.
template <class T, std::size_t K>
void fixed(const T* values, Picks& picks, const DrawRange& draws, std::size_t begin, std::size_t end, T* out,
           Ticker& tick) {
  for (std::size_t t = begin; t < end; ++t) {
    T sum[K] = {};
    picks.run(draws.seed, draws.first + t, tick, [&](const std::uint32_t* words, std::size_t n, std::uint64_t size, std::size_t first) {
      const T* base = values + first * K;
      for (std::size_t i = 0; i < n; ++i) {
        const T* unit = base + (words[i] * size >> 32) * K;
        for (std::size_t c = 0; c < K; ++c) sum[c] += unit[c];
      }
    });
    for (std::size_t c = 0; c < K; ++c) out[t * K + c] = sum[c];
  }
}

template <class T>
void any(const T* values, std::size_t columns, Picks& picks, const DrawRange& draws, std::size_t begin, std::size_t end, T* out,
           Ticker& tick) {
  for (std::size_t t = begin; t < end; ++t) {
    T* sum = out + t * columns;
    for (std::size_t c = 0; c < columns; ++c) sum[c] = 0;
    picks.run(draws.seed, draws.first + t, tick, [&](const std::uint32_t* words, std::size_t n, std::uint64_t size, std::size_t first) {
      for (std::size_t i = 0; i < n; ++i) {
        const T* unit = values + (first + (words[i] * size >> 32)) * columns;
        for (std::size_t c = 0; c < columns; ++c) sum[c] += unit[c];
      }
    });
  }
}

template <class T>
void resample(std::span<const std::int64_t> offsets, std::span<const T> values, std::size_t columns,
              const DrawRange& draws, int threads, T* out, const Poll& poll) {
  parallel_ranges(draws.count, threads, poll, [&](std::size_t begin, std::size_t end, Ticker& tick) {
    Picks picks(offsets);
    switch (columns) {
      case 1: return fixed<T, 1>(values.data(), picks, draws, begin, end, out, tick);
      case 2: return fixed<T, 2>(values.data(), picks, draws, begin, end, out, tick);
      case 3: return fixed<T, 3>(values.data(), picks, draws, begin, end, out, tick);
      case 4: return fixed<T, 4>(values.data(), picks, draws, begin, end, out, tick);
      default: return any(values.data(), columns, picks, draws, begin, end, out, tick);
    }
  });
}

}  // namespace

void resample_packed(std::span<const std::int64_t> offsets, std::span<const std::uint64_t> values, std::size_t columns,
                     const DrawRange& draws, int threads, std::uint64_t* out, const Poll& poll) {
  resample(offsets, values, columns, draws, threads, out, poll);
}

void resample_sums(std::span<const std::int64_t> offsets, std::span<const double> values, std::size_t columns,
                   const DrawRange& draws, int threads, double* out, const Poll& poll) {
  resample(offsets, values, columns, draws, threads, out, poll);
}

}  // namespace c2s
