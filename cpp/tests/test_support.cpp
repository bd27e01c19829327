#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <vector>

#include "c2s_core/support.hpp"
#include "check.hpp"

namespace {

using c2s::Alphabet;
using c2s::SupportKind;

std::span<const std::uint8_t> bytes(const std::string& text) {
  return {reinterpret_cast<const std::uint8_t*>(text.data()), text.size()};
}

std::string offered(const std::vector<std::string>& candidates, const std::string& prefix, SupportKind kind,
                    const std::string& letters) {
  std::string joined;
  for (const auto& candidate : candidates) joined += candidate;
  const Alphabet alphabet(bytes(letters));
  const auto mask = std::make_unique<bool[]>(letters.size());
  c2s::Ticker tick;
  c2s::support_mask({bytes(joined).data(), candidates.size(), candidates[0].size()}, bytes(prefix), kind, alphabet, mask.get(), tick);
  std::string out;
  for (std::size_t i = 0; i < letters.size(); ++i)
    if (mask[i]) out += letters[i];
  return out;
}

void paper_example() {
  const std::vector<std::string> set{"585", "589", "385", "389", "485", "489", "685", "689"};
  const std::string digits = "0123456789";
  CHECK(offered(set, "", SupportKind::kFull, digits) == digits);
  CHECK(offered(set, "", SupportKind::kUnion, digits) == "3456");
  CHECK(offered(set, "58", SupportKind::kTrie, digits) == "59");
  CHECK(offered(set, "58", SupportKind::kTrie, "9876543210") == "95");
  CHECK(offered(set, "5_", SupportKind::kTrie, digits).empty());
  CHECK(offered(set, "57", SupportKind::kTrie, digits).empty());
  CHECK(offered(set, "5_", SupportKind::kUnion, digits) == "59");
}

void random_sets_by_definition() {
  std::uint32_t state = 99;
  const auto next = [&state](std::uint32_t bound) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % bound;
  };
  const std::string letters = "cabd";
  for (int round = 0; round < 4000; ++round) {
    const std::size_t m = 1 + next(9), length = 1 + next(5);
    std::vector<std::string> set(m);
    for (auto& candidate : set)
      for (std::size_t j = 0; j < length; ++j) candidate += letters[next(3)];
    std::string prefix = set[next(static_cast<std::uint32_t>(m))].substr(0, next(static_cast<std::uint32_t>(length)));
    if (!prefix.empty() && next(3) == 0) prefix[next(static_cast<std::uint32_t>(prefix.size()))] = "_abz"[next(4)];
    std::set<char> in_union, in_trie;
    for (const auto& candidate : set) {
      in_union.insert(candidate[prefix.size()]);
      if (candidate.compare(0, prefix.size(), prefix) == 0) in_trie.insert(candidate[prefix.size()]);
    }
    std::string by_union, by_trie;
    for (const char letter : letters) {
      if (in_union.count(letter)) by_union += letter;
      if (in_trie.count(letter)) by_trie += letter;
    }
    CHECK(offered(set, prefix, SupportKind::kUnion, letters) == by_union);
    CHECK(offered(set, prefix, SupportKind::kTrie, letters) == by_trie);
  }
}

void alphabets() {
  CHECK(Alphabet(bytes("abc")).distinct() && !Alphabet(bytes("aba")).distinct());
  CHECK(Alphabet(bytes("abc")).rank('c') == 2 && Alphabet(bytes("abc")).rank('d') == -1);
  // A candidate byte outside the alphabet is never written.
  CHECK(offered({"xy", "ab"}, "", SupportKind::kUnion, "abc") == "a");
}

void batches() {
  const std::string sets = "abacbdbc";  // {ab, ac}, {bd, bc}
  const std::string prefixes = "a? b??";  // rows of three, padded
  const std::vector<std::int64_t> lengths{1, 1};
  const Alphabet alphabet(bytes("abcd"));
  bool masks[8];
  c2s::SupportBatch batch{bytes(sets).data(), false, 2, 2, bytes(prefixes).data(), 3, lengths};
  CHECK(c2s::support_masks(batch, SupportKind::kTrie, alphabet, masks) == 2);
  CHECK(!masks[0] && masks[1] && masks[2] && !masks[3]);
  CHECK(!masks[4] && !masks[5] && masks[6] && masks[7]);
  batch.one_set = true;
  CHECK(c2s::support_masks(batch, SupportKind::kTrie, alphabet, masks) == 2);
  CHECK(masks[1] && masks[2] && !masks[4] && !masks[5] && !masks[6] && !masks[7]);
  const std::vector<std::int64_t> too_long{1, 2}, negative{-1, 1};
  batch.prefix_lengths = too_long;
  CHECK(c2s::support_masks(batch, SupportKind::kTrie, alphabet, masks) == 1);
  batch.prefix_lengths = negative;
  CHECK(c2s::support_masks(batch, SupportKind::kTrie, alphabet, masks) == 0);
}

}  // namespace

int main() {
  paper_example();
  random_sets_by_definition();
  alphabets();
  batches();
  return c2s_test::result();
}
