#include "c2s_core/bootstrap.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <mutex>

#include "c2s_core/parallel.hpp"
#include "c2s_core/rng.hpp"

namespace c2s {
namespace {

// The cells of some strata, copied together.
struct Part {
  std::vector<std::int64_t> offsets{0}, x, d, count;

  void add(const RatioCells& cells, std::size_t s) {
    for (auto j = cells.offsets[s]; j < cells.offsets[s + 1]; ++j) {
      const auto at = static_cast<std::size_t>(j);
      x.push_back(cells.x[at]);
      d.push_back(cells.d[at]);
      count.push_back(cells.count[at]);
    }
    offsets.push_back(static_cast<std::int64_t>(x.size()));
  }
  RatioCells view() const { return {offsets, x, d, count}; }
};

double ratio(double x, double d) noexcept { return d == 0 ? std::numeric_limits<double>::quiet_NaN() : x / d; }

AliasTable table_of(const Part& part, double x_scale, double d_scale, const Poll& poll) {
  const Law law = exact_law(part.view(), plan_grid(part.view(), poll), poll);
  std::vector<AliasTable::State> states(law.mass.size());
  for (std::size_t i = 0; i < states.size(); ++i) {
    states[i] = {x_scale * static_cast<double>(law.x[i]), d_scale * static_cast<double>(law.d[i])};
  }
  return alias_table(law.mass, std::move(states), poll);
}

}  // namespace

AliasTable alias_table(std::span<const double> mass, std::vector<AliasTable::State> states, const Poll& poll) {
  Ticker tick(poll);
  AliasTable table;
  table.bits = static_cast<int>(std::bit_width(mass.size() - 1));
  const std::size_t size = std::size_t{1} << table.bits;
  double total = 0;
  for (const double m : mass) total += m;
  // Every column holds 1 / size; `share` is what a state still has to place, in columns.
  std::vector<double> share(size, 0.0);
  for (std::size_t i = 0; i < mass.size(); ++i) share[i] = mass[i] / total * static_cast<double>(size);
  std::vector<std::uint32_t> small, large;
  tick(size);
  for (std::size_t i = 0; i < size; ++i) (share[i] < 1 ? small : large).push_back(static_cast<std::uint32_t>(i));
  const double unit = std::ldexp(1.0, 64);
  table.columns.resize(size);
  while (!small.empty() && !large.empty()) {
    tick(4);
    const std::uint32_t s = small.back(), l = large.back();
    small.pop_back();
    table.columns[s] = {static_cast<std::uint64_t>(share[s] * unit), s, l};
    share[l] -= 1 - share[s];
    if (share[l] < 1) {
      large.pop_back();
      small.push_back(l);
    }
  }
  // What is left is full up to rounding. A padding column without mass cannot be among it unless rounding put it there: then it
  // goes to the likeliest state.
  const auto likeliest = static_cast<std::uint32_t>(std::max_element(mass.begin(), mass.end()) - mass.begin());
  for (const auto& rest : {small, large}) {
    for (const std::uint32_t i : rest) {
      const std::uint32_t state = i < mass.size() && mass[i] > 0 ? i : likeliest;
      table.columns[i] = {~std::uint64_t{0}, state, state};
    }
  }
  for (auto& column : table.columns) {
    if (column.own >= mass.size()) column.own = column.alias;  // padding: never chosen, kept in range
  }
  table.states = std::move(states);
  return table;
}

Multinomial::Multinomial(const RatioCells& cells, std::span<const double> x_scale, std::span<const double> d_scale,
                         double max_cost, const Poll& poll) {
  for (std::size_t s = 0; s < cells.strata();) {
    Part part;
    part.add(cells, s);
    const double alone = law_cost(part.view(), plan_grid(part.view(), poll));
    if (alone > std::min(max_cost, kMaxLawCost)) {
      too_large_ = alone;
      tables_.clear();
      return;
    }
    std::size_t end = s + 1;
    while (end < cells.strata() && x_scale[end] == x_scale[s] && d_scale[end] == d_scale[s]) {
      Part wider = part;
      wider.add(cells, end);
      if (poll) poll();
      const Grid grid = plan_grid(wider.view(), poll);
      if (grid.points() > kMergedPoints || std::isinf(law_cost(wider.view(), grid))) break;
      part = std::move(wider);
      ++end;
    }
    tables_.push_back(table_of(part, x_scale[s], d_scale[s], poll));
    s = end;
  }
}

std::size_t Multinomial::states() const noexcept {
  std::size_t n = 0;
  for (const auto& table : tables_) n += table.states.size();
  return n;
}

void Multinomial::chunk(const DrawRange& draws, std::size_t at, std::size_t n, std::uint32_t* words, double* x,
                        double* d, Ticker& tick) const {
  for (std::size_t k = 0; k < tables_.size(); ++k) {
    tick(4 * n);
    if (k % 2 == 0) {
      philox_draws(draws.seed, Stream::kMultinomial, draws.first + at, static_cast<std::uint32_t>(k / 2), n, words);
    }
    const AliasTable& table = tables_[k];
    for (std::size_t i = 0; i < n; ++i) {
      const std::size_t w = 4 * i + 2 * (k % 2);
      const auto& state = table.at(static_cast<std::uint64_t>(words[w]) << 32 | words[w + 1]);
      x[i] = k == 0 ? state.x : x[i] + state.x;
      d[i] = k == 0 ? state.d : d[i] + state.d;
    }
  }
}

void Multinomial::draw(const DrawRange& draws, int threads, double* x, double* d, const Poll& poll) const {
  parallel_ranges(draws.count, threads, poll, [&](std::size_t begin, std::size_t end, Ticker& tick) {
    std::vector<std::uint32_t> words(4 * philox_padded(kChunk));
    for (std::size_t at = begin; at < end; at += kChunk) {
      chunk(draws, at, std::min(kChunk, end - at), words.data(), x + at, d + at, tick);
    }
  });
}

void Multinomial::draw_ratios(const DrawRange& draws, int threads, double* out, const Poll& poll) const {
  parallel_ranges(draws.count, threads, poll, [&](std::size_t begin, std::size_t end, Ticker& tick) {
    std::vector<std::uint32_t> words(4 * philox_padded(kChunk));
    std::vector<double> x(kChunk), d(kChunk);
    for (std::size_t at = begin; at < end; at += kChunk) {
      const std::size_t n = std::min(kChunk, end - at);
      chunk(draws, at, n, words.data(), x.data(), d.data(), tick);
      for (std::size_t i = 0; i < n; ++i) out[at + i] = ratio(x[i], d[i]);
    }
  });
}

std::vector<double> Multinomial::state_ratios() const {
  std::vector<double> out;
  out.reserve(tables_[0].states.size());
  for (const auto& state : tables_[0].states) out.push_back(ratio(state.x, state.d));
  return out;
}

void Multinomial::tally(const DrawRange& draws, int threads, std::int64_t* count, const Poll& poll) const {
  const AliasTable& table = tables_[0];
  std::fill_n(count, table.states.size(), 0);
  std::mutex adding;
  parallel_ranges(draws.count, threads, poll, [&](std::size_t begin, std::size_t end, Ticker& tick) {
    std::vector<std::uint32_t> words(4 * philox_padded(kChunk)), own(table.states.size());
    for (std::size_t at = begin; at < end; at += kChunk) {
      const std::size_t n = std::min(kChunk, end - at);
      tick(4 * n);
      philox_draws(draws.seed, Stream::kMultinomial, draws.first + at, 0, n, words.data());
      for (std::size_t i = 0; i < n; ++i) {
        ++own[table.index(static_cast<std::uint64_t>(words[4 * i]) << 32 | words[4 * i + 1])];
      }
    }
    const std::lock_guard lock(adding);
    for (std::size_t i = 0; i < own.size(); ++i) count[i] += own[i];
  });
}

}  // namespace c2s
