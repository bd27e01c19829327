#include "c2s_core/exact.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cmath>
#include <limits>
#include <map>

#include "c2s_core/fft.hpp"
#include "c2s_core/select.hpp"
#include "c2s_core/simd.hpp"

#if defined(__SSE2__)
#include <xmmintrin.h>
#endif

namespace c2s {
namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;
constexpr double kLogTail = 36.0;  // exp(-36) = 2.3e-16 is left out at each end of a coordinate
constexpr double kNoise = 1e-13;   // what all the discarded cells of a grid may hold together
constexpr double kHuge = 1e15;     // far beyond the width of any grid that is transformed; keeps conversions defined
constexpr double kExactTotal = 9007199254740992.0;  // 2^53
constexpr std::size_t kPiece = std::size_t{1} << 16;  // grid points from one tick to the next at most

// Powers of small characteristic values run through subnormal numbers, which cost a hundred cycles each: call them zero.
class FlushSubnormals {
#if defined(__SSE2__)
 public:
  FlushSubnormals() noexcept : saved_(_mm_getcsr()) { _mm_setcsr(saved_ | 0x8040); }
  ~FlushSubnormals() { _mm_setcsr(saved_); }
  FlushSubnormals(const FlushSubnormals&) = delete;
  FlushSubnormals& operator=(const FlushSubnormals&) = delete;

 private:
  unsigned saved_;
#endif
};

std::int64_t units_of(const RatioCells& cells, std::size_t s) noexcept {
  std::int64_t n = 0;
  for (auto j = cells.offsets[s]; j < cells.offsets[s + 1]; ++j) n += cells.count[static_cast<std::size_t>(j)];
  return n;
}

// One coordinate c = cx x + cd d of the totals: where its law lies.
class Coordinate {
 public:
  Coordinate(const RatioCells& cells, int cx, int cd, Ticker& tick) : cx_(cx), cd_(cd) {
    for (std::size_t s = 0; s < cells.strata(); ++s) {
      const double n = static_cast<double>(units_of(cells, s));
      if (n == 0) continue;
      Stratum stratum{n, {}, {}};
      double least = std::numeric_limits<double>::infinity(), most = -least, mean = 0, square = 0;
      for (auto j = cells.offsets[s]; j < cells.offsets[s + 1]; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (cells.count[at] == 0) continue;
        const double value = cx * static_cast<double>(cells.x[at]) + cd * static_cast<double>(cells.d[at]);
        const double p = static_cast<double>(cells.count[at]) / n;
        stratum.value.push_back(value);
        stratum.p.push_back(p);
        least = std::min(least, value);
        most = std::max(most, value);
        mean += p * value;
        square += p * value * value;
      }
      low_ += n * least;
      high_ += n * most;
      variance_ += n * std::max(0.0, square - mean * mean);
      if (most > least) strata_.push_back(stratum);
      else fixed_ += n * least;
    }
    if (strata_.empty()) return;
    high_ = std::min(high_, std::ceil(fixed_ + reach(+1, tick)));
    low_ = std::max(low_, std::floor(fixed_ - reach(-1, tick)));
  }

  std::int64_t low() const noexcept { return static_cast<std::int64_t>(std::clamp(low_, -kHuge, kHuge)); }
  double width() const noexcept { return high_ - low_ + 1; }
  int cx() const noexcept { return cx_; }
  int cd() const noexcept { return cd_; }

 private:
  struct Stratum {
    double n;
    std::vector<double> value, p;
  };

  // Chernoff: P(sum >= t) <= exp(K(h) - h t) for every h > 0, so t = (K(h) + kLogTail) / h leaves exp(-kLogTail). Any h is
  // valid; a coarse search finds one near the best.
  double reach(double sign, Ticker& tick) const {
    const double centre = std::sqrt(2 * kLogTail / variance_);
    double best = std::numeric_limits<double>::infinity();
    for (double h = centre / 8; h < centre * 4; h *= 1.3) {
      double k = 0;
      for (const auto& s : strata_) {
        tick(8 * s.value.size());
        double top = -std::numeric_limits<double>::infinity(), sum = 0;
        for (const double v : s.value) top = std::max(top, sign * h * v);
        for (std::size_t i = 0; i < s.value.size(); ++i) sum += s.p[i] * std::exp(sign * h * s.value[i] - top);
        k += s.n * (top + std::log(sum));
      }
      best = std::min(best, (k + kLogTail) / h);
    }
    return best;
  }

  int cx_, cd_;
  std::vector<Stratum> strata_;
  double low_ = 0, high_ = 0, variance_ = 0, fixed_ = 0;
};

// exp(2 pi i j value / size) for j = 0, 1, ... count - 1.
void turns(std::int64_t value, std::size_t size, std::size_t count, double* re, double* im, Ticker& tick) {
  const auto n = static_cast<std::int64_t>(size);
  const std::int64_t step = ((value % n) + n) % n;
  std::int64_t at = 0;
  for (std::size_t j = 0; j < count; ++j) {
    tick(16);
    const double angle = kTwoPi * static_cast<double>(at) / static_cast<double>(n);
    re[j] = std::cos(angle);
    im[j] = std::sin(angle);
    at += step;
    if (at >= n) at -= n;
  }
}

C2S_WIDE void add_scaled(double* __restrict zr, double* __restrict zi, const double* vr, const double* vi, double er,
                         double ei, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    zr[i] += er * vr[i] - ei * vi[i];
    zi[i] += er * vi[i] + ei * vr[i];
  }
}

C2S_WIDE void multiply(double* __restrict xr, double* __restrict xi, const double* yr, const double* yi, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double re = xr[i] * yr[i] - xi[i] * yi[i];
    xi[i] = xr[i] * yi[i] + xi[i] * yr[i];
    xr[i] = re;
  }
}

C2S_WIDE void square(double* __restrict xr, double* __restrict xi, std::size_t n) {
  for (std::size_t i = 0; i < n; ++i) {
    const double re = xr[i] * xr[i] - xi[i] * xi[i];
    xi[i] = 2 * xr[i] * xi[i];
    xr[i] = re;
  }
}

// phi(w_a, w_b) = prod_s (sum_j p_sj exp(i (w_a a_j + w_b b_j)))^n_s, one row of w_b at a time. Strata of equal size are
// multiplied before the power, and all powers share their squarings.
class CharacteristicRows {
 public:
  CharacteristicRows(const RatioCells& cells, const Grid& grid, std::size_t columns, Ticker& tick)
      : columns_(columns), tick_(tick) {
    std::map<std::int64_t, std::size_t> turn_of;  // value of b -> row of turns
    std::map<std::int64_t, std::size_t> group_of;
    std::map<std::int64_t, std::size_t> a_of;
    for (std::size_t s = 0; s < cells.strata(); ++s) {
      const std::int64_t n = units_of(cells, s);
      if (n == 0) continue;
      const auto group = group_of.try_emplace(n, group_of.size()).first->second;
      if (group == groups_.size()) groups_.push_back({n, {}});
      std::map<std::int64_t, std::size_t> term_of;
      auto& strata = groups_[group].strata;
      strata.emplace_back();
      for (auto j = cells.offsets[s]; j < cells.offsets[s + 1]; ++j) {
        const auto at = static_cast<std::size_t>(j);
        if (cells.count[at] == 0) continue;
        tick(64);
        const std::int64_t a = grid.a_x * cells.x[at] + grid.a_d * cells.d[at];
        const std::int64_t b = grid.b_x * cells.x[at] + grid.b_d * cells.d[at];
        const auto turn = turn_of.try_emplace(b, turn_of.size()).first->second;
        const auto term = term_of.try_emplace(b, term_of.size()).first->second;
        if (term == strata.back().size()) strata.back().push_back({turn, {}});
        const auto a_turn = a_of.try_emplace(a, a_of.size()).first->second;
        strata.back()[term].parts.push_back({a_turn, static_cast<double>(cells.count[at]) / static_cast<double>(n)});
      }
    }
    b_turns_.resize(turn_of.size() * columns_);
    for (const auto& [b, row] : turn_of) {
      turns(b, grid.b_size, columns_, &b_turns_.re[row * columns_], &b_turns_.im[row * columns_], tick);
    }
    a_size_ = grid.a_size;
    a_turns_.resize(a_of.size() * a_size_);
    for (const auto& [a, row] : a_of) {
      turns(a, a_size_, a_size_, &a_turns_.re[row * a_size_], &a_turns_.im[row * a_size_], tick);
    }
    bases_.resize(groups_.size() * columns_);
    factor_.resize(columns_);
    std::int64_t most = 1;
    for (const auto& group : groups_) most = std::max(most, group.n);
    bits_ = static_cast<int>(std::bit_width(static_cast<std::uint64_t>(most)));
  }

  void row(std::size_t j, double* re, double* im) {
    for (std::size_t g = 0; g < groups_.size(); ++g) base(g, j);
    std::fill(re, re + columns_, 1.0);
    std::fill(im, im + columns_, 0.0);
    bool started = false;
    for (int bit = bits_ - 1; bit >= 0; --bit) {
      if (started) square(re, im, columns_);
      tick_(columns_);
      for (std::size_t g = 0; g < groups_.size(); ++g) {
        if (groups_[g].n >> bit & 1) {
          multiply(re, im, &bases_.re[g * columns_], &bases_.im[g * columns_], columns_);
          tick_(columns_);
          started = true;
        }
      }
    }
  }

 private:
  struct Part {
    std::size_t a_turn;
    double p;
  };
  struct Term {  // the cells of a stratum that share a value of b
    std::size_t b_turn;
    std::vector<Part> parts;
  };
  struct Group {  // the strata with n units
    std::int64_t n;
    std::vector<std::vector<Term>> strata;
  };

  void base(std::size_t g, std::size_t j) {
    double *re = &bases_.re[g * columns_], *im = &bases_.im[g * columns_];
    bool first = true;
    for (const auto& stratum : groups_[g].strata) {
      double *zr = first ? re : factor_.re.data(), *zi = first ? im : factor_.im.data();
      std::fill(zr, zr + columns_, 0.0);
      std::fill(zi, zi + columns_, 0.0);
      for (const auto& term : stratum) {
        double er = 0, ei = 0;
        for (const auto& part : term.parts) {
          er += part.p * a_turns_.re[part.a_turn * a_size_ + j];
          ei += part.p * a_turns_.im[part.a_turn * a_size_ + j];
        }
        add_scaled(zr, zi, &b_turns_.re[term.b_turn * columns_], &b_turns_.im[term.b_turn * columns_], er, ei, columns_);
        tick_(columns_ + term.parts.size());
      }
      if (!first) multiply(re, im, zr, zi, columns_);
      first = false;
    }
  }

  std::size_t columns_, a_size_ = 0;
  Ticker& tick_;
  int bits_ = 1;
  std::vector<Group> groups_;
  Planes a_turns_, b_turns_, bases_, factor_;
};

std::int64_t unwrap(std::size_t index, std::int64_t low, std::size_t size) noexcept {
  const auto n = static_cast<std::int64_t>(size);
  const std::int64_t shift = (static_cast<std::int64_t>(index) - low) % n;
  return low + (shift < 0 ? shift + n : shift);
}

}  // namespace

Grid plan_grid(const RatioCells& cells, const Poll& poll) {
  Ticker tick(poll);
  const std::array<Coordinate, 3> c{Coordinate(cells, 1, 0, tick), Coordinate(cells, 0, 1, tick),
                                    Coordinate(cells, -1, 1, tick)};
  std::size_t a = 0, b = 1;
  for (const auto& [i, j] : {std::pair<std::size_t, std::size_t>{0, 2}, {2, 1}}) {
    if (c[i].width() * c[j].width() < c[a].width() * c[b].width()) a = i, b = j;
  }
  const auto length = [](double width) {
    return width > kHuge ? static_cast<std::size_t>(kHuge) : fft_length(static_cast<std::size_t>(width));
  };
  return {c[a].cx(),  c[a].cd(),  c[b].cx(), c[b].cd(), c[a].low(), c[b].low(), length(c[a].width()),
          length(c[b].width())};
}

double law_cost(const RatioCells& cells, const Grid& grid) noexcept {
  const double n = static_cast<double>(cells.count.size());
  double reach = 0;  // of the totals of x, d and d - x
  for (std::size_t s = 0; s < cells.strata(); ++s) {
    double most = 0;
    for (auto j = cells.offsets[s]; j < cells.offsets[s + 1]; ++j) {
      const auto at = static_cast<std::size_t>(j);
      most = std::max(most, std::fabs(static_cast<double>(cells.x[at])) + static_cast<double>(cells.d[at]));
    }
    reach += most * static_cast<double>(units_of(cells, s));
  }
  if (reach >= kExactTotal) return std::numeric_limits<double>::infinity();
  return grid.points() * (1 + n / 64) + n * static_cast<double>(grid.a_size + grid.b_size);
}

Law exact_law(const RatioCells& cells, const Grid& grid, const Poll& poll) {
  Ticker tick(poll);
  const FlushSubnormals flush;
  const std::size_t rows = grid.a_size, half = grid.b_size / 2 + 1, pairs = (rows + 1) / 2;
  Planes data, scratch;
  data.resize(rows * half);
  CharacteristicRows phi(cells, grid, half, tick);
  for (std::size_t j = 0; j < rows; ++j) phi.row(j, &data.re[j * half], &data.im[j * half]);
  fft_columns(data, scratch, rows, half, poll);
  if (poll) poll();

  // Every row is now the transform of a real sequence in b: two rows make one complex column, g + i g'.
  Planes columns;
  columns.resize(grid.b_size * pairs);
  for (std::size_t r = 0; r < pairs; ++r) {
    const std::size_t even = 2 * r * half, odd = even + half;
    const bool both = 2 * r + 1 < rows;
    for (std::size_t k = 0; k < grid.b_size; ++k) {
      if (k % kPiece == kPiece - 1) tick(2 * kPiece);
      const bool mirrored = k >= half;
      const std::size_t at = mirrored ? grid.b_size - k : k;
      const double sign = mirrored ? -1.0 : 1.0;
      const double gr = data.re[even + at], gi = sign * data.im[even + at];
      const double hr = both ? data.re[odd + at] : 0.0, hi = both ? sign * data.im[odd + at] : 0.0;
      columns.re[k * pairs + r] = gr - hi;
      columns.im[k * pairs + r] = gi + hr;
    }
    tick(grid.b_size % kPiece);
  }
  fft_columns(columns, scratch, grid.b_size, pairs, poll);
  if (poll) poll();

  const double scale = 1.0 / grid.points(), floor = kNoise * scale;
  const int det = grid.a_x * grid.b_d - grid.a_d * grid.b_x;
  Law law;
  for (std::size_t k = 0; k < grid.b_size; ++k) {
    const std::int64_t b = unwrap(k, grid.b_low, grid.b_size);
    for (std::size_t i = 0; i < rows; ++i) {
      if (i % kPiece == kPiece - 1) tick(2 * kPiece);
      const double mass = scale * (i % 2 == 0 ? columns.re : columns.im)[k * pairs + i / 2];
      if (mass <= floor) continue;
      const std::int64_t a = unwrap(i, grid.a_low, rows);
      law.x.push_back((grid.b_d * a - grid.a_d * b) * det);  // det is 1 or -1
      law.d.push_back((grid.a_x * b - grid.b_x * a) * det);
      law.mass.push_back(mass);
    }
    tick(2 * (rows % kPiece));
  }
  return law;
}

double undefined_probability(const RatioCells& cells) {
  double log_p = 0;
  for (std::size_t s = 0; s < cells.strata(); ++s) {
    std::int64_t n = 0, empty = 0;
    for (auto j = cells.offsets[s]; j < cells.offsets[s + 1]; ++j) {
      const auto at = static_cast<std::size_t>(j);
      n += cells.count[at];
      if (cells.d[at] == 0) empty += cells.count[at];
    }
    if (n == 0) continue;
    if (empty == 0) return 0;
    log_p += static_cast<double>(n) * std::log(static_cast<double>(empty) / static_cast<double>(n));
  }
  return std::exp(log_p);
}

RatioSummary summarise(const RatioCells& cells, const Law& law, std::span<const double> levels, const Poll& poll) {
  Ticker tick(poll);
  std::vector<double> value, mass;
  value.reserve(law.mass.size());
  mass.reserve(law.mass.size());
  double total = 0, first = 0;
  for (std::size_t i = 0; i < law.mass.size(); ++i) {
    tick(4);
    if (law.d[i] <= 0) continue;
    const double v = static_cast<double>(law.x[i]) / static_cast<double>(law.d[i]);
    value.push_back(v);
    mass.push_back(law.mass[i]);
    total += law.mass[i];
    first += law.mass[i] * v;
  }
  RatioSummary out{undefined_probability(cells), first / total, 0, quantiles(value, mass, levels, poll)};
  double second = 0;
  for (std::size_t i = 0; i < value.size(); ++i) second += mass[i] * (value[i] - out.mean) * (value[i] - out.mean);
  out.sd = std::sqrt(second / total);
  return out;
}

}  // namespace c2s
