#include <cmath>
#include <cstdint>
#include <cstring>
#include <thread>
#include <vector>

#include "c2s_core/bootstrap.hpp"
#include "c2s_core/calibration.hpp"
#include "c2s_core/resample.hpp"
#include "c2s_core/rng.hpp"
#include "c2s_core/signflip.hpp"
#include "check.hpp"

namespace {

using Ints = std::vector<std::int64_t>;
using Doubles = std::vector<double>;

// Same bits; NaN equals NaN.
bool same(const Doubles& a, const Doubles& b) {
  return a.size() == b.size() && std::memcmp(a.data(), b.data(), a.size() * sizeof(double)) == 0;
}

void known_answers() {  // tests/kat_vectors of Random123
  CHECK((c2s::philox4x32_10({0, 0, 0, 0}, {0, 0}) ==
         c2s::PhiloxCounter{0x6627e8d5, 0xe169c58d, 0xbc57ac4c, 0x9b00dbd8}));
  const std::uint32_t all = 0xffffffff;
  CHECK((c2s::philox4x32_10({all, all, all, all}, {all, all}) ==
         c2s::PhiloxCounter{0x408f276d, 0x41c83b0e, 0xa20bc7c6, 0x6d5451fd}));
  CHECK((c2s::philox4x32_10({0x243f6a88, 0x85a308d3, 0x13198a2e, 0x03707344}, {0xa4093822, 0x299f31d0}) ==
         c2s::PhiloxCounter{0xd16cfe09, 0x94fdcceb, 0x5001e420, 0x24126ea1}));
}

void instruction_sets_agree() {
  const std::uint64_t seed = 0x123456789abcdefull, draw = (std::uint64_t{1} << 32) - 3;
  for (const char* level : {"scalar", "avx2", "avx512"}) {
    if (!c2s::philox_force(level)) continue;
    std::vector<std::uint32_t> words(4 * c2s::philox_padded(45));
    for (const bool over_draws : {false, true}) {
      if (over_draws) c2s::philox_draws(seed, c2s::Stream::kSigns, draw, 5, 45, words.data());
      else c2s::philox_blocks(seed, c2s::Stream::kSigns, draw, 5, 45, words.data());
      for (std::uint32_t i = 0; i < 45; ++i) {
        const std::uint64_t t = draw + (over_draws ? i : 0);
        const auto expected = c2s::philox4x32_10(
            {5 + (over_draws ? 0 : i), 3, static_cast<std::uint32_t>(t), static_cast<std::uint32_t>(t >> 32)},
            {static_cast<std::uint32_t>(seed), static_cast<std::uint32_t>(seed >> 32)});
        for (std::size_t j = 0; j < 4; ++j) CHECK(words[4 * i + j] == expected[j]);
      }
    }
  }
  for (const char* level : {"avx512", "avx2", "scalar"}) {  // back to the best
    if (c2s::philox_force(level)) break;
  }
}

// Two strata with a chunk boundary inside the first one.
struct Sample {
  Ints offsets{0, 2500, 2600};
  std::vector<std::uint64_t> packed;
  Doubles values;
  Sample() {
    for (std::uint64_t i = 0; i < 2600; ++i) {
      packed.push_back((i * i % 3 == 1) | (std::uint64_t{i % 2} << 32));
      values.push_back(std::sin(static_cast<double>(i)));
      values.push_back(std::cos(static_cast<double>(i)));
    }
  }
};

void items_equal_the_definition() {
  const Sample s;
  const std::size_t draws = 3;
  std::vector<std::uint64_t> sums(draws);
  Doubles floats(2 * draws);
  c2s::resample_packed(s.offsets, s.packed, 1, {42, 7, draws}, 1, sums.data());
  c2s::resample_sums(s.offsets, s.values, 2, {42, 7, draws}, 1, floats.data());
  for (std::size_t t = 0; t < draws; ++t) {
    std::uint64_t expected = 0;
    double first = 0;
    for (std::uint32_t slot = 0; slot < 2600; ++slot) {
      const auto words = c2s::philox4x32_10({slot / 4, 1, static_cast<std::uint32_t>(7 + t), 0}, {42, 0});
      const std::uint64_t size = slot < 2500 ? 2500 : 100, begin = slot < 2500 ? 0 : 2500;
      const std::size_t unit = begin + (words[slot % 4] * size >> 32);
      expected += s.packed[unit];
      first += s.values[2 * unit];
    }
    CHECK(sums[t] == expected);
    CHECK_NEAR(floats[2 * t], first, 1e-10);
  }
}

template <class Draw>
void splits_agree(const Draw& draw, std::size_t width) {
  Doubles whole(1000 * width), parts(1000 * width);
  draw(c2s::DrawRange{9, 0, 1000}, 1, whole.data());
  for (const int threads : {2, 5, 8}) {
    draw(c2s::DrawRange{9, 0, 1000}, threads, parts.data());
    CHECK(same(parts, whole));
  }
  draw(c2s::DrawRange{9, 0, 1}, 1, parts.data());
  draw(c2s::DrawRange{9, 1, 640}, 3, parts.data() + width);
  draw(c2s::DrawRange{9, 641, 359}, 2, parts.data() + 641 * width);
  CHECK(same(parts, whole));
}

struct ScoreSample {
  Ints offsets{0, 40, 90}, unit;
  std::vector<std::uint8_t> outcome;
  Doubles weight, first, second;
  ScoreSample() {
    for (std::int64_t i = 0; i < 180; ++i) {
      unit.push_back(i / 2);
      outcome.push_back(i % 7 == 0);
      weight.push_back(1.0 + static_cast<double>(i % 3));
      first.push_back(static_cast<double>(i * 37 % 101) / 100);
      second.push_back(static_cast<double>(i % 11) - 5);
    }
  }
  c2s::ScoreData data() const { return {offsets, unit, outcome, weight}; }
};

void every_kernel_is_independent_of_threads_and_batches() {
  const Sample s;
  splits_agree([&](const c2s::DrawRange& r, int threads, double* out) {
    c2s::resample_sums(s.offsets, s.values, 2, r, threads, out);
  }, 2);
  splits_agree([&](const c2s::DrawRange& r, int threads, double* out) {
    c2s::signflip_sums(s.values, r, threads, out);
  }, 1);
  const Ints offsets{0, 3, 6, 8}, x{1, 0, 0, 1, 0, 0, 1, 0}, d{1, 1, 0, 1, 1, 0, 1, 1}, count{20, 30, 14, 5, 50, 9, 30, 34};
  const Doubles one{1, 1, 1}, weights{0.25, 1, 1};
  for (const auto& scale : {one, weights}) {
    const c2s::Multinomial cells({offsets, x, d, count}, scale, one, 1e9);
    CHECK(cells.tables() == (scale[0] == 1 ? 1u : 2u));
    splits_agree([&](const c2s::DrawRange& r, int threads, double* out) { cells.draw_ratios(r, threads, out); }, 1);
  }
  const ScoreSample scores;
  const std::vector<c2s::ScorePlan> plans{{scores.data(), scores.first, true}, {scores.data(), scores.second, false}};
  const std::vector<c2s::Metric> metrics{c2s::Metric::kAuroc, c2s::Metric::kAveragePrecision, c2s::Metric::kBrier, c2s::Metric::kEce};
  const Doubles coverage{0.1, 0.5};
  splits_agree([&](const c2s::DrawRange& r, int threads, double* out) {
    c2s::resample_scores(scores.data(), plans, metrics, coverage, r, threads, out);
  }, 12);
}

void alias_tables_hold_the_law() {
  const Doubles mass{0.5, 0.0, 0.2, 0.05, 0.25};
  std::vector<c2s::AliasTable::State> states;
  for (int i = 0; i < 5; ++i) states.push_back({static_cast<double>(i), 1});
  const auto table = c2s::alias_table(mass, states);
  CHECK(table.bits == 3);
  Doubles found(5);
  for (const auto& column : table.columns) {
    const double stay = std::ldexp(static_cast<double>(column.threshold), -64);
    found[column.own] += stay / 8;
    found[column.alias] += (1 - stay) / 8;
  }
  for (std::size_t i = 0; i < 5; ++i) CHECK_NEAR(found[i], mass[i], 1e-15);
  const auto single = c2s::alias_table(Doubles{3.0}, {{7, 2}});
  CHECK(single.at(0).x == 7 && single.at(~std::uint64_t{0}).d == 2);
}

void tallies_count_the_draws() {
  const Ints offsets{0, 3}, x{1, 0, 0}, d{1, 1, 0}, count{20, 30, 14};
  const Doubles one{1};
  const c2s::Multinomial cells({offsets, x, d, count}, one, one, 1e9);
  Doubles ratios(1000);
  cells.draw_ratios({9, 0, 1000}, 1, ratios.data());
  const Doubles states = cells.state_ratios();
  Ints whole(states.size()), parts(states.size());
  cells.tally({9, 0, 1000}, 1, whole.data());
  cells.tally({9, 0, 1000}, 4, parts.data());
  CHECK(parts == whole);
  double drawn = 0, tallied = 0;
  for (const double r : ratios) drawn += r;
  for (std::size_t i = 0; i < states.size(); ++i) tallied += static_cast<double>(whole[i]) * states[i];
  CHECK_NEAR(drawn, tallied, 1e-9);
}

void a_stratum_that_is_too_large_says_so() {
  const Ints offsets{0, 2}, x{1, 0}, d{1, 1}, count{50, 50};
  const Doubles one{1};
  const c2s::Multinomial cells({offsets, x, d, count}, one, one, 10);
  CHECK(cells.too_large() > 10 && cells.tables() == 0);
}

void metrics_of_a_small_sample() {
  const Ints offsets{0, 6}, unit{0, 1, 2, 3, 4, 5};
  const std::vector<std::uint8_t> outcome{1, 1, 0, 0, 1, 0};
  const Doubles score{0.9, 0.9, 0.9, 0.9, 0.5, 0.5};
  const c2s::ScoreData data{offsets, unit, outcome, {}};
  const c2s::ScorePlan plan(data, score, true);
  const std::vector<std::int32_t> once(6, 1), none(6, 0), positives{1, 1, 0, 0, 0, 0};
  const std::vector<c2s::Metric> metrics{c2s::Metric::kAuroc, c2s::Metric::kBrier, c2s::Metric::kEce, c2s::Metric::kPrevalence};
  const Doubles coverage{0.5, 1.0};
  Doubles mass(6), out(6);
  plan.evaluate(once.data(), metrics, coverage, mass.data(), out.data());
  CHECK_NEAR(out[0], 0.5, 1e-15);
  CHECK_NEAR(out[1], (2 * 0.01 + 2 * 0.81 + 0.25 + 0.25) / 6, 1e-15);
  CHECK_NEAR(out[2], (4 * 0.4 + 2 * 0.0) / 6, 1e-15);
  CHECK_NEAR(out[3], 0.5, 1e-15);
  CHECK_NEAR(out[4], 0.5, 1e-15);
  CHECK_NEAR(out[5], 0.5, 1e-15);
  plan.evaluate(positives.data(), metrics, coverage, mass.data(), out.data());
  CHECK(std::isnan(out[0]) && !std::isnan(out[1]) && out[3] == 1.0);
  plan.evaluate(none.data(), metrics, coverage, mass.data(), out.data());
  for (const double value : out) CHECK(std::isnan(value));
}

void sign_flip_law_counts_patterns() {
  const Ints magnitude{1, 0, 2, 2, 3};
  Doubles law(9), expected(9);
  c2s::signflip_law(magnitude, law.data());
  for (int bits = 0; bits < 32; ++bits) {
    std::size_t sum = 0;
    for (std::size_t i = 0; i < 5; ++i) {
      if (bits >> i & 1) sum += static_cast<std::size_t>(magnitude[i]);
    }
    expected[sum] += 1.0 / 32;
  }
  for (std::size_t t = 0; t < 9; ++t) CHECK_NEAR(law[t], expected[t], 1e-16);
}

void callers_may_share_what_they_read() {
  const ScoreSample scores;
  const std::vector<c2s::ScorePlan> plans{{scores.data(), scores.first, true}};
  const std::vector<c2s::Metric> metrics{c2s::Metric::kAuroc, c2s::Metric::kEce};
  Doubles expected(400);
  c2s::resample_scores(scores.data(), plans, metrics, {}, {3, 0, 200}, 1, expected.data());
  std::vector<Doubles> found(8, Doubles(400));
  std::vector<std::thread> threads;
  for (auto& out : found) {
    threads.emplace_back([&] { c2s::resample_scores(scores.data(), plans, metrics, {}, {3, 0, 200}, 2, out.data()); });
  }
  for (auto& thread : threads) thread.join();
  for (const auto& out : found) CHECK(same(out, expected));
}

}  // namespace

int main() {
  known_answers();
  instruction_sets_agree();
  items_equal_the_definition();
  every_kernel_is_independent_of_threads_and_batches();
  alias_tables_hold_the_law();
  tallies_count_the_draws();
  a_stratum_that_is_too_large_says_so();
  metrics_of_a_small_sample();
  sign_flip_law_counts_patterns();
  callers_may_share_what_they_read();
  return c2s_test::result();
}
