// Discrimination, calibration and selection of several scores in one pass over bootstrap draws (paper A.6, D.14, D.15).
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c2s_core/poll.hpp"
#include "c2s_core/resample.hpp"

namespace c2s {

enum class Metric : std::int32_t { kAuroc, kAveragePrecision, kBrier, kEce, kPrevalence, kBrierGain };

// Items with a zero-or-one outcome, a weight and a resampling unit each. Units lie in stratum order (see resample.hpp); a unit
// that is picked k times counts all its items k times.
struct ScoreData {
  std::span<const std::int64_t> offsets;  // [strata + 1], in units
  std::span<const std::int64_t> unit;     // [items]
  std::span<const std::uint8_t> outcome;  // [items]
  std::span<const double> weight;         // [items], or empty: one each
};

// One score, prepared once: items by falling score, cut into blocks. Equal scores form one block; runs of blocks without a
// positive are merged, which changes no metric. Reliability bins are [0, 0.1), [0.1, 0.2), ... [0.9, 1].
class ScorePlan {
 public:
  // `calibrated`: the scores lie in [0, 1], so that Brier and ECE mean something; otherwise they are NaN.
  ScorePlan(const ScoreData& data, std::span<const double> score, bool calibrated, const Poll& poll = {});

  std::size_t items() const noexcept { return unit_.size(); }

  // Metrics of a draw in which unit u was picked picks[u] times, then precision at each coverage (ascending shares of the
  // weight). NaN where undefined: AUROC and average precision with one class only, everything without weight.
  // `mass` is scratch for items() values.
  void evaluate(const std::int32_t* picks, std::span<const Metric> metrics, std::span<const double> coverage, double* mass,
                double* out) const;

 private:
  struct Block {  // positives, then negatives of equal score; or negatives of several scores
    std::size_t begin, middle, end;
  };
  struct Ranking {
    double positive = 0, negative = 0, auroc = 0, average_precision = 0;
  };

  Ranking rank(const double* mass) const noexcept;
  void precision(const double* mass, double total, std::span<const double> coverage, double* out) const noexcept;

  bool calibrated_;
  std::vector<std::int32_t> unit_;  // by falling score
  std::vector<double> weight_;      // empty: one each
  std::vector<double> residual_;    // score - outcome
  std::vector<double> square_;      // its square
  std::vector<Block> blocks_;
  std::array<std::size_t, 11> bins_{};  // starts of the bins by falling score, and the end
};

// out is [draws, scores, metrics + coverage]. All scores share a draw's picks, those of Stream::kItems.
void resample_scores(const ScoreData& data, const std::vector<ScorePlan>& plans, std::span<const Metric> metrics,
                     std::span<const double> coverage, const DrawRange& draws, int threads, double* out,
                     const Poll& poll = {});

}  // namespace c2s
