#include "c2s_core/support.hpp"

#include <algorithm>

namespace c2s {
namespace {

constexpr std::size_t kBlock = 4096;  // candidates from one tick to the next

}  // namespace

Alphabet::Alphabet(std::span<const std::uint8_t> bytes) noexcept : size_(bytes.size()) {
  rank_.fill(-1);
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (rank_[bytes[i]] >= 0) {
      distinct_ = false;
    } else {
      rank_[bytes[i]] = static_cast<std::int16_t>(i);
    }
  }
}

void support_mask(const CandidateSet& set, std::span<const std::uint8_t> prefix, SupportKind kind, const Alphabet& alphabet,
                  bool* mask, Ticker& tick) {
  std::fill_n(mask, alphabet.size(), kind == SupportKind::kFull);
  if (kind == SupportKind::kFull) return;
  for (std::size_t i = 0; i < set.m; ++i) {
    if (i % kBlock == 0) tick(std::min(kBlock, set.m - i) * (1 + prefix.size() / 8));
    const std::uint8_t* candidate = set.bytes + i * set.length;
    if (kind == SupportKind::kTrie && !std::equal(prefix.begin(), prefix.end(), candidate)) continue;
    const std::int16_t rank = alphabet.rank(candidate[prefix.size()]);
    if (rank >= 0) mask[rank] = true;
  }
}

std::size_t support_masks(const SupportBatch& batch, SupportKind kind, const Alphabet& alphabet, bool* masks,
                          const Poll& poll) {
  Ticker tick(poll);
  const std::size_t n = batch.prefix_lengths.size();
  const std::size_t limit = std::min(batch.length - 1, batch.stride);
  for (std::size_t i = 0; i < n; ++i) {
    tick(8);
    const std::int64_t length = batch.prefix_lengths[i];  // read once, then checked and used
    if (length < 0 || static_cast<std::size_t>(length) > limit) return i;
    const CandidateSet set{batch.candidates + (batch.one_set ? 0 : i * batch.m * batch.length), batch.m, batch.length};
    support_mask(set, {batch.prefixes + i * batch.stride, static_cast<std::size_t>(length)}, kind, alphabet,
                 masks + i * alphabet.size(), tick);
  }
  return n;
}

}  // namespace c2s
