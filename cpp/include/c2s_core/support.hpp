// Which characters of an alphabet a controller offers at the position after a prefix (paper, Algorithm 1): all of them, the
// union of the candidates' characters there, or the continuations of the candidates that start with the prefix.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

#include "c2s_core/poll.hpp"

namespace c2s {

enum class SupportKind { kFull = 0, kUnion = 1, kTrie = 2 };

// Bytes and their rank; a byte outside has rank -1.
class Alphabet {
 public:
  explicit Alphabet(std::span<const std::uint8_t> bytes) noexcept;
  bool distinct() const noexcept { return distinct_; }
  std::size_t size() const noexcept { return size_; }
  std::int16_t rank(std::uint8_t byte) const noexcept { return rank_[byte]; }

 private:
  std::array<std::int16_t, 256> rank_;
  std::size_t size_;
  bool distinct_ = true;
};

// m equal-length candidates, row-major [m, length].
struct CandidateSet {
  const std::uint8_t* bytes;
  std::size_t m;
  std::size_t length;
};

// Writes alphabet.size() flags in alphabet order. The prefix is shorter than the candidates. A prefix byte that no candidate has
// there, such as the invalid marker, matches nothing in a trie; the mask is then empty.
void support_mask(const CandidateSet& set, std::span<const std::uint8_t> prefix, SupportKind kind, const Alphabet& alphabet,
                  bool* mask, Ticker& tick);

struct SupportBatch {
  const std::uint8_t* candidates;  // [n, m, length], or [m, length] for all prefixes
  bool one_set;
  std::size_t m;
  std::size_t length;
  const std::uint8_t* prefixes;  // [n, stride], padded
  std::size_t stride;
  std::span<const std::int64_t> prefix_lengths;  // [n], each 0 .. min(length - 1, stride)
};

// Writes [n, alphabet.size()] flags. Returns the index of the first prefix length out of range, where it stops, or n.
std::size_t support_masks(const SupportBatch& batch, SupportKind kind, const Alphabet& alphabet, bool* masks, const Poll& poll = {});

}  // namespace c2s
