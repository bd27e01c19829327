#include "c2s_core/geometry.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace c2s {
namespace {

using Bits = std::array<double, kMaxCandidates + 1>;

const Bits& log2_table() noexcept {
  static const Bits table = [] {
    Bits bits{};
    for (std::size_t i = 1; i < bits.size(); ++i) bits[i] = std::log2(static_cast<double>(i));
    return bits;
  }();
  return table;
}

// Distinct bytes seen in the current round, without clearing between rounds.
class Seen {
 public:
  void next_round() noexcept {
    if (++round_ == 0) {  // after 2^32 rounds the old marks would come back to life
      mark_.fill(0);
      round_ = 1;
    }
  }
  bool add(std::uint8_t byte) noexcept {
    const bool fresh = mark_[byte] != round_;
    mark_[byte] = round_;
    return fresh;
  }

 private:
  std::array<std::uint32_t, 256> mark_{};
  std::uint32_t round_ = 0;
};

std::uint64_t saturating_product(std::uint64_t a, std::uint64_t b) noexcept {
  constexpr auto max = std::numeric_limits<std::uint64_t>::max();
  return a > max / b ? max : a * b;
}

// Entropy of the character at position `k` among the candidates that share the gold's first k. Summed over the sizes of
// the branches in increasing order, so that the order of the candidates changes no bit; one single branch gives exactly 0.
double branch_entropy(const std::uint8_t* set, const std::int32_t* common, std::size_t m, std::size_t length, std::size_t k,
                      std::size_t compatible, const Bits& log2) noexcept {
  std::array<std::uint8_t, 256> count{};
  for (std::size_t i = 0; i < m; ++i) {
    if (common[i] >= static_cast<std::int32_t>(k)) ++count[set[i * length + k]];
  }
  std::array<std::uint8_t, kMaxCandidates + 1> branches_of_size{};
  for (std::size_t i = 0; i < m; ++i) {
    if (common[i] < static_cast<std::int32_t>(k)) continue;
    auto& size = count[set[i * length + k]];
    if (size != 0) ++branches_of_size[size];
    size = 0;
  }
  const double total = static_cast<double>(compatible);
  double entropy = 0.0;
  for (std::size_t size = 1; size <= compatible; ++size) {
    if (branches_of_size[size] == 0) continue;
    const double share = static_cast<double>(branches_of_size[size] * size) / total;
    entropy += share * (log2[compatible] - log2[size]);
  }
  return entropy;
}

}  // namespace

std::size_t candidate_geometry(std::span<const std::uint8_t> candidates, std::span<const std::int64_t> gold,
                               const GeometryShape& shape, const GeometryColumns& out, const Poll& poll) {
  Ticker tick(poll);
  const auto [n, m, length] = shape;
  const Bits& log2 = log2_table();
  std::array<std::int32_t, kMaxCandidates> common;  // length of the prefix shared with the gold
  Seen seen;
  for (std::size_t s = 0; s < n; ++s) {
    // Read once: the checked index is the used one, whatever another thread writes meanwhile.
    const std::int64_t g = gold[s];
    if (g < 0 || g >= static_cast<std::int64_t>(m)) return s;
    const std::uint8_t* set = candidates.data() + s * m * length;
    const std::uint8_t* answer = set + static_cast<std::size_t>(g) * length;

    std::int32_t* k = out.k + s * (length + 1);
    std::fill_n(k, length + 1, 0);
    for (std::size_t i = 0; i < m; ++i) {
      std::size_t shared = 0;
      while (shared < length && set[i * length + shared] == answer[shared]) ++shared;
      common[i] = static_cast<std::int32_t>(shared);
      tick(shared);
      ++k[shared];
    }
    for (std::size_t j = length; j-- > 0;) k[j] += k[j + 1];

    double* entropy = out.entropy + s * (length + 1);
    std::int32_t first = -1;
    double sum = 0.0;
    for (std::size_t j = 0; j <= length; ++j) {
      entropy[j] = log2[static_cast<std::size_t>(k[j])];
      if (first < 0 && k[j] == 1) first = static_cast<std::int32_t>(j);
      if (j < length) sum += entropy[j];
    }
    out.first_unique[s] = first;
    out.mean_entropy[s] = sum / static_cast<double>(length);

    std::uint64_t cartesian = 1;
    for (std::size_t j = 0; j < length; ++j) {
      const std::size_t at = s * length + j;
      // All compatible candidates go on with the gold's own character: nothing to branch on.
      out.branch_entropy[at] =
          k[j] == k[j + 1] ? 0.0 : branch_entropy(set, common.data(), m, length, j, static_cast<std::size_t>(k[j]), log2);
      tick(m);
      seen.next_round();
      std::int32_t distinct = 0;
      for (std::size_t i = 0; i < m; ++i) distinct += seen.add(set[i * length + j]);
      out.union_size[at] = distinct;
      out.forced[at] = distinct == 1;
      cartesian = saturating_product(cartesian, static_cast<std::uint64_t>(distinct));
    }
    out.cartesian[s] = cartesian;
  }
  return n;
}

}  // namespace c2s
