// The bootstrap by joint cells: a draw looks up the totals of whole strata in alias tables, without touching an item.
//
// Strata are merged while the law of their joint totals (X, D) stays below a bound; each merged group is one alias table
// over its joint states. The law comes from exact.hpp, so a table's probabilities are right to about 1e-14 absolute.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "c2s_core/exact.hpp"
#include "c2s_core/poll.hpp"
#include "c2s_core/resample.hpp"

namespace c2s {

// Walker's alias method with 64-bit words: the top bits choose a column, the rest is compared with its threshold.
struct AliasTable {
  struct Column {
    std::uint64_t threshold;  // stay below, else go to the alias
    std::uint32_t own;        // state of the column
    std::uint32_t alias;
  };
  struct State {
    double x;
    double d;
  };
  int bits = 0;  // columns = 2^bits
  std::vector<Column> columns;
  std::vector<State> states;

  std::uint32_t index(std::uint64_t word) const noexcept {
    const Column& c = columns[bits == 0 ? 0 : word >> (64 - bits)];
    return (word << bits) < c.threshold ? c.own : c.alias;
  }
  const State& at(std::uint64_t word) const noexcept { return states[index(word)]; }
};

AliasTable alias_table(std::span<const double> mass, std::vector<AliasTable::State> states, const Poll& poll = {});

// Largest law, in grid points, that strata are merged to: its table fits the second-level cache.
inline constexpr double kMergedPoints = 65536;

class Multinomial {
 public:
  // Stratum s adds x_scale[s] * X_s and d_scale[s] * D_s. Only strata of equal scales are merged. A stratum whose own law costs
  // more than max_cost (or kMaxLawCost) is too large: `too_large` holds its cost and nothing is built.
  Multinomial(const RatioCells& cells, std::span<const double> x_scale, std::span<const double> d_scale, double max_cost,
              const Poll& poll = {});

  double too_large() const noexcept { return too_large_; }
  std::size_t tables() const noexcept { return tables_.size(); }
  std::size_t states() const noexcept;

  // Totals of each draw into x[i], d[i]. Table k of draw t reads word pair k of the draw's blocks in Stream::kMultinomial.
  void draw(const DrawRange& draws, int threads, double* x, double* d, const Poll& poll = {}) const;

  // X / D of each draw into out[i], NaN where D is 0.
  void draw_ratios(const DrawRange& draws, int threads, double* out, const Poll& poll = {}) const;

  // Where one table holds everything: the ratio of each of its states, and how many of the draws fall on each.
  std::vector<double> state_ratios() const;
  void tally(const DrawRange& draws, int threads, std::int64_t* count, const Poll& poll = {}) const;

 private:
  static constexpr std::size_t kChunk = 512;  // draws that are held at once

  void chunk(const DrawRange& draws, std::size_t at, std::size_t n, std::uint32_t* words, double* x, double* d,
             Ticker& tick) const;

  double too_large_ = 0;
  std::vector<AliasTable> tables_;
};

}  // namespace c2s
