// The picks of one draw: words of the generator, stratum by stratum, a chunk at a time.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c2s_core/poll.hpp"
#include "c2s_core/rng.hpp"

namespace c2s {

class Picks {
 public:
  explicit Picks(std::span<const std::int64_t> offsets)
      : offsets_(offsets),
        words_(4 * philox_padded(std::min(kChunk, (static_cast<std::size_t>(offsets.back()) + 3) / 4 * 4) / 4)) {}

  // Calls visit(words, n, size, first) for runs of n slots of one stratum: slot i picks unit first + (words[i] * size >> 32).
  template <class Visit>
  void run(std::uint64_t seed, std::uint64_t draw, Ticker& tick, const Visit& visit) {
    tick(8);
    const auto total = static_cast<std::size_t>(offsets_.back());
    std::size_t s = 0;
    for (std::size_t at = 0; at < total; at += kChunk) {
      const std::size_t end = std::min(total, at + kChunk);
      tick(end - at);
      philox_blocks(seed, Stream::kItems, draw, static_cast<std::uint32_t>(at / 4), (end - at + 3) / 4, words_.data());
      std::size_t slot = at;
      while (slot < end) {
        while (static_cast<std::size_t>(offsets_[s + 1]) <= slot) ++s;
        const auto first = static_cast<std::size_t>(offsets_[s]), last = static_cast<std::size_t>(offsets_[s + 1]);
        const std::size_t n = std::min(end, last) - slot;
        visit(words_.data() + (slot - at), n, static_cast<std::uint64_t>(last - first), first);
        slot += n;
      }
    }
  }

 private:
  static constexpr std::size_t kChunk = 2048;  // slots in flight: 8 KB of words

  std::span<const std::int64_t> offsets_;
  std::vector<std::uint32_t> words_;
};

}  // namespace c2s
