#include "c2s_core/calibration.hpp"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include "c2s_core/parallel.hpp"
#include "c2s_core/picks.hpp"
#include "c2s_core/simd.hpp"

namespace c2s {
namespace {

constexpr double kNan = std::numeric_limits<double>::quiet_NaN();
constexpr std::size_t kBins = 10;
constexpr std::size_t kLanes = 16;  // partial sums of a reduction: one fixed order, whatever the instruction set

C2S_WIDE void gather(const std::int32_t* picks, const std::int32_t* unit, std::size_t n, double* mass) {
  for (std::size_t i = 0; i < n; ++i) mass[i] = static_cast<double>(picks[unit[i]]);
}

C2S_WIDE void scale(double* mass, const double* weight, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) mass[i] *= weight[i];
}

double fold(const double* lane) noexcept {
  double sum = 0;
  for (std::size_t j = 0; j < kLanes; ++j) sum += lane[j];
  return sum;
}

C2S_WIDE double wide_sum(const double* value, std::size_t n) {
  double lane[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lane[j] += value[i + j];
  }
  for (std::size_t j = 0; i < n; ++i, ++j) lane[j] += value[i];
  return fold(lane);
}

double sum_of(const double* value, std::size_t n) {
  if (n > 2 * kLanes) return wide_sum(value, n);
  double sum = 0;
  for (std::size_t i = 0; i < n; ++i) sum += value[i];
  return sum;
}

C2S_WIDE double dot(const double* a, const double* b, std::size_t n) {
  double lane[kLanes] = {};
  std::size_t i = 0;
  for (; i + kLanes <= n; i += kLanes) {
    for (std::size_t j = 0; j < kLanes; ++j) lane[j] += a[i + j] * b[i + j];
  }
  for (std::size_t j = 0; i < n; ++i, ++j) lane[j] += a[i] * b[i];
  return fold(lane);
}

}  // namespace

ScorePlan::ScorePlan(const ScoreData& data, std::span<const double> score, bool calibrated, const Poll& poll)
    : calibrated_(calibrated) {
  Ticker tick(poll);
  const std::size_t n = score.size();
  std::vector<std::size_t> order(n);
  std::iota(order.begin(), order.end(), std::size_t{0});
  // The item's number settles what is left, so that a permutation of equal items alone can change the last digits.
  std::sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    tick(4);
    if (score[a] != score[b]) return score[a] > score[b];
    if (data.outcome[a] != data.outcome[b]) return data.outcome[a] > data.outcome[b];
    return a < b;
  });
  for (const std::size_t i : order) {
    unit_.push_back(static_cast<std::int32_t>(data.unit[i]));
    if (!data.weight.empty()) weight_.push_back(data.weight[i]);
    residual_.push_back(score[i] - static_cast<double>(data.outcome[i]));
    square_.push_back(residual_.back() * residual_.back());
  }
  for (std::size_t begin = 0; begin < n;) {
    std::size_t end = begin, positives = 0;
    while (end < n && score[order[end]] == score[order[begin]]) positives += data.outcome[order[end++]];
    const bool merges = positives == 0 && !blocks_.empty() && blocks_.back().begin == blocks_.back().middle;
    if (merges) blocks_.back().end = end;
    else blocks_.push_back({begin, begin + positives, end});
    begin = end;
  }
  bins_[kBins] = n;
  for (std::size_t b = 0; b < kBins; ++b) {  // bin b counts from the top: scores of at least (9 - b) / 10 and below the bin above
    const double upper = static_cast<double>(kBins - b) / kBins;
    bins_[b] = b == 0 ? 0
                      : static_cast<std::size_t>(std::partition_point(order.begin(), order.end(),
                                                                      [&](std::size_t i) { return score[i] >= upper; }) -
                                                 order.begin());
  }
}

ScorePlan::Ranking ScorePlan::rank(const double* mass) const noexcept {
  Ranking r;
  double wins = 0, precision = 0;
  for (const Block& block : blocks_) {
    const double positive = sum_of(mass + block.begin, block.middle - block.begin);
    const double negative = sum_of(mass + block.middle, block.end - block.middle);
    wins += negative * (r.positive + 0.5 * positive);  // positives above, and half of those beside
    r.positive += positive;
    r.negative += negative;
    if (positive > 0) precision += positive * (r.positive / (r.positive + r.negative));
  }
  const bool both = r.positive > 0 && r.negative > 0;
  r.auroc = both ? wins / (r.positive * r.negative) : kNan;
  r.average_precision = both ? precision / r.positive : kNan;
  return r;
}

void ScorePlan::precision(const double* mass, double total, std::span<const double> coverage, double* out) const noexcept {
  std::size_t next = 0;
  double above = 0, hits = 0;
  for (const Block& block : blocks_) {
    if (next == coverage.size()) return;
    const double positive = sum_of(mass + block.begin, block.middle - block.begin);
    const double size = positive + sum_of(mass + block.middle, block.end - block.middle);
    for (; next < coverage.size() && above + size >= coverage[next] * total; ++next) {
      const double wanted = coverage[next] * total;
      out[next] = (hits + (size > 0 ? (wanted - above) / size * positive : 0)) / wanted;
    }
    above += size;
    hits += positive;
  }
  for (; next < coverage.size(); ++next) out[next] = hits / (coverage[next] * total);  // rounding at full coverage
}

void ScorePlan::evaluate(const std::int32_t* picks, std::span<const Metric> metrics, std::span<const double> coverage,
                         double* mass, double* out) const {
  const std::size_t n = items();
  gather(picks, unit_.data(), n, mass);
  if (!weight_.empty()) scale(mass, weight_.data(), n);
  const Ranking r = rank(mass);
  const double total = r.positive + r.negative, prevalence = r.positive / total;
  if (!(total > 0)) {
    std::fill_n(out, metrics.size() + coverage.size(), kNan);
    return;
  }
  for (const Metric metric : metrics) {
    double value = kNan;
    switch (metric) {
      case Metric::kAuroc: value = r.auroc; break;
      case Metric::kAveragePrecision: value = r.average_precision; break;
      case Metric::kPrevalence: value = prevalence; break;
      case Metric::kBrier:
      case Metric::kBrierGain:
        if (!calibrated_) break;
        value = dot(mass, square_.data(), n) / total;
        if (metric == Metric::kBrierGain) value -= prevalence * (1 - prevalence);
        break;
      case Metric::kEce:
        if (!calibrated_) break;
        value = 0;
        for (std::size_t b = 0; b < kBins; ++b) {
          value += std::fabs(dot(mass + bins_[b], residual_.data() + bins_[b], bins_[b + 1] - bins_[b]));
        }
        value /= total;
        break;
    }
    *out++ = value;
  }
  precision(mass, total, coverage, out);
}

void resample_scores(const ScoreData& data, const std::vector<ScorePlan>& plans, std::span<const Metric> metrics,
                     std::span<const double> coverage, const DrawRange& draws, int threads, double* out,
                     const Poll& poll) {
  const std::size_t width = metrics.size() + coverage.size();
  parallel_ranges(draws.count, threads, poll, [&](std::size_t begin, std::size_t end, Ticker& tick) {
    Picks source(data.offsets);
    std::vector<std::int32_t> picks(static_cast<std::size_t>(data.offsets.back()));
    std::vector<double> mass(data.unit.size());
    for (std::size_t t = begin; t < end; ++t) {
      std::fill(picks.begin(), picks.end(), 0);
      source.run(draws.seed, draws.first + t, tick,
                 [&](const std::uint32_t* words, std::size_t n, std::uint64_t size, std::size_t first) {
                   std::int32_t* base = picks.data() + first;
                   for (std::size_t i = 0; i < n; ++i) ++base[words[i] * size >> 32];
                 });
      for (std::size_t s = 0; s < plans.size(); ++s) {
        tick(4 * data.unit.size());
        plans[s].evaluate(picks.data(), metrics, coverage, mass.data(), out + (t * plans.size() + s) * width);
      }
    }
  });
}

}  // namespace c2s
