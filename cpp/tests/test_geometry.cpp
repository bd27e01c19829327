#include <cmath>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "c2s_core/geometry.hpp"
#include "check.hpp"

namespace {

struct Result {
  std::vector<std::int32_t> k, first_unique, union_size;
  std::vector<double> entropy, mean_entropy, branch_entropy;
  std::unique_ptr<bool[]> forced;
  std::vector<std::uint64_t> cartesian;
  std::size_t done = 0;
};

Result run(const std::vector<std::uint8_t>& bytes, const std::vector<std::int64_t>& gold, std::size_t m, std::size_t length) {
  const std::size_t n = gold.size();
  Result r;
  r.k.resize(n * (length + 1));
  r.entropy.resize(n * (length + 1));
  r.first_unique.resize(n);
  r.mean_entropy.resize(n);
  r.branch_entropy.resize(n * length);
  r.union_size.resize(n * length);
  r.forced = std::make_unique<bool[]>(n * length);
  r.cartesian.resize(n);
  r.done = c2s::candidate_geometry(bytes, gold, {n, m, length},
                                   {r.k.data(), r.entropy.data(), r.first_unique.data(), r.mean_entropy.data(),
                                    r.branch_entropy.data(), r.union_size.data(), r.forced.get(), r.cartesian.data()});
  return r;
}

std::vector<std::uint8_t> bytes_of(const std::vector<std::string>& candidates) {
  std::vector<std::uint8_t> bytes;
  for (const auto& candidate : candidates) bytes.insert(bytes.end(), candidate.begin(), candidate.end());
  return bytes;
}

// Figure 1 of the paper: 39 x 15, branches at positions 1 and 3.
void paper_example() {
  const auto r = run(bytes_of({"585", "589", "385", "389", "485", "489", "685", "689"}), {0}, 8, 3);
  CHECK(r.done == 1);
  CHECK((r.k == std::vector<std::int32_t>{8, 2, 2, 1}));
  CHECK((r.entropy == std::vector<double>{3, 1, 1, 0}));
  CHECK(r.first_unique[0] == 3);
  CHECK_NEAR(r.mean_entropy[0], 5.0 / 3.0, 1e-15);
  CHECK((r.branch_entropy == std::vector<double>{2, 0, 1}));
  CHECK((r.union_size == std::vector<std::int32_t>{4, 1, 2}));
  CHECK(!r.forced[0] && r.forced[1] && !r.forced[2]);
  CHECK(r.cartesian[0] == 8);
}

// Small alphabets make ties, duplicates and long common prefixes frequent.
void random_sets_by_definition() {
  std::uint32_t state = 12345;
  const auto next = [&state](std::uint32_t bound) {
    state = state * 1664525u + 1013904223u;
    return (state >> 16) % bound;
  };
  for (int round = 0; round < 4000; ++round) {
    const std::size_t m = 1 + next(12), length = 1 + next(6), letters = 1 + next(4);
    std::vector<std::string> set(m);
    for (auto& candidate : set)
      for (std::size_t j = 0; j < length; ++j) candidate += static_cast<char>('a' + next(static_cast<std::uint32_t>(letters)));
    const std::size_t gold = next(static_cast<std::uint32_t>(m));
    const auto r = run(bytes_of(set), {static_cast<std::int64_t>(gold)}, m, length);
    CHECK(r.done == 1);
    std::uint64_t product = 1;
    for (std::size_t k = 0; k <= length; ++k) {
      std::map<char, int> branch;
      std::set<char> all;
      int compatible = 0;
      for (const auto& candidate : set) {
        const bool agrees = candidate.compare(0, k, set[gold], 0, k) == 0;
        compatible += agrees;
        if (k == length) continue;
        all.insert(candidate[k]);
        if (agrees) ++branch[candidate[k]];
      }
      CHECK(r.k[k] == compatible);
      CHECK(r.entropy[k] == std::log2(static_cast<double>(compatible)));
      if (k == length) continue;
      double entropy = 0;
      for (const auto& [letter, count] : branch) {
        const double share = static_cast<double>(count) / compatible;
        entropy -= share * std::log2(share);
      }
      CHECK_NEAR(r.branch_entropy[k], entropy, 1e-12);
      CHECK(r.union_size[k] == static_cast<int>(all.size()) && r.forced[k] == (all.size() == 1));
      product *= all.size();
    }
    CHECK(r.cartesian[0] == product);
  }
}

void largest_sets_and_saturation() {
  const std::size_t m = c2s::kMaxCandidates, length = 9;
  std::vector<std::uint8_t> bytes;
  for (std::size_t i = 0; i < m; ++i) bytes.insert(bytes.end(), length, static_cast<std::uint8_t>(i));
  const auto r = run(bytes, {254}, m, length);
  CHECK(r.k[0] == 255 && r.k[1] == 1 && r.union_size[0] == 255);
  CHECK_NEAR(r.branch_entropy[0], std::log2(255.0), 1e-12);
  CHECK(r.cartesian[0] == std::numeric_limits<std::uint64_t>::max());
}

void stops_at_the_first_bad_gold() {
  CHECK(run(bytes_of({"ab", "cd", "ef", "gh"}), {1, 2}, 2, 2).done == 1);
  CHECK(run(bytes_of({"ab", "cd", "ef", "gh"}), {-1, 1}, 2, 2).done == 0);
  CHECK(run({}, {}, 8, 3).done == 0);
}

void threads_agree() {
  std::vector<std::uint8_t> bytes;
  std::vector<std::int64_t> gold;
  for (std::uint32_t i = 0; i < 2000; ++i) {
    for (std::uint32_t c = 0; c < 40; ++c) bytes.push_back(static_cast<std::uint8_t>('a' + (i * 31 + c * c * 7) % 26));
    gold.push_back(i % 8);
  }
  const auto expected = run(bytes, gold, 8, 5);
  std::vector<Result> found(8);
  std::vector<std::thread> threads;
  for (auto& result : found) threads.emplace_back([&] { result = run(bytes, gold, 8, 5); });
  for (auto& thread : threads) thread.join();
  for (const auto& result : found)
    CHECK(result.k == expected.k && result.branch_entropy == expected.branch_entropy &&
          result.mean_entropy == expected.mean_entropy && result.cartesian == expected.cartesian);
}

}  // namespace

int main() {
  paper_example();
  random_sets_by_definition();
  largest_sets_and_saturation();
  stops_at_the_first_bad_gold();
  threads_agree();
  return c2s_test::result();
}
