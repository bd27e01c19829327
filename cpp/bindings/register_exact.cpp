#include "arrays.hpp"
#include "c2s_core/exact.hpp"
#include "c2s_core/select.hpp"
#include "c2s_core/sum_law.hpp"
#include "cells.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

std::span<const double> levels_of(const In<double>& levels) {
  const auto wanted = list("levels", levels);
  need_each("levels", wanted, "above 0 and at most 1", [](double q) { return q > 0 && q <= 1; });
  return wanted;
}

py::tuple ratio(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
                const In<std::int64_t>& count, const In<double>& levels, double max_cost) {
  const RatioCells cells = cells_of(offsets, x, d, count);
  const auto wanted = levels_of(levels);
  need_cost(max_cost);
  bool defined = false;
  for (std::size_t j = 0; j < cells.d.size(); ++j) defined |= cells.count[j] > 0 && cells.d[j] > 0;
  need(defined, "d must be above 0 in some cell whose count is above 0");
  double cost;
  RatioSummary out{};
  {
    py::gil_scoped_release release;
    const Poll poll = signal_poll();
    const Grid grid = plan_grid(cells, poll);
    cost = law_cost(cells, grid);
    if (cost <= max_cost) {
      need_affordable(cost);
      out = summarise(cells, exact_law(cells, grid, poll), wanted, poll);
    }
  }
  return py::make_tuple(cost, out.undefined, out.mean, out.sd, to_array(out.quantiles));
}

py::tuple law(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
              const In<std::int64_t>& count) {
  const RatioCells cells = cells_of(offsets, x, d, count);
  Law found;
  {
    py::gil_scoped_release release;
    const Poll poll = signal_poll();
    const Grid grid = plan_grid(cells, poll);
    need_affordable(law_cost(cells, grid));
    found = exact_law(cells, grid, poll);
  }
  return py::make_tuple(to_array(found.x), to_array(found.d), to_array(found.mass));
}

py::tuple sum(const In<std::int64_t>& offsets, const In<std::int64_t>& value, const In<std::int64_t>& count) {
  const auto at = list("offsets", offsets), values = list("value", value), counts = list("count", count);
  need_cells(at, values.size(), counts);
  need(values.size() == counts.size(), "value and count must be of equal length");
  need_each("value", values, "-2**53 to 2**53", [](std::int64_t v) { return v >= -kMaxCount - 1 && v <= kMaxCount + 1; });
  need_sum_width(at, values, counts);
  SumLaw found;
  {
    py::gil_scoped_release release;
    found = exact_sum(at, values, counts, signal_poll());
  }
  return py::make_tuple(found.low, to_array(found.mass));
}

py::array_t<double> select(const In<double>& values, const In<double>& mass, const In<double>& levels) {
  constexpr double kMost = std::numeric_limits<double>::max() / 4;  // differences stay finite
  const auto v = list("values", values), m = list("mass", mass), q = levels_of(levels);
  need(!v.empty() && v.size() < std::size_t{1} << 31, "values must hold 1 to 2**31 - 1 numbers");
  need(m.empty() || m.size() == v.size(), "mass must be empty or as long as values");
  need_each("values", v, "finite and below 2**1022 in magnitude", [](double a) { return std::fabs(a) <= kMost; });
  need_each("mass", m, "finite and at least 0", [](double a) { return a >= 0 && a <= kMost; });
  double total = m.empty() ? 1 : 0;
  for (const double a : m) total += a;
  need(total > 0 && total <= kMost, "mass must have a finite sum above 0");
  std::vector<double> found;
  {
    py::gil_scoped_release release;
    found = quantiles(v, m, q, signal_poll());
  }
  return to_array(found);
}

}  // namespace

void register_exact(py::module_& m) {
  const auto in = [](const char* name) { return py::arg(name).noconvert(); };
  m.def("exact_ratio", &ratio, py::kw_only(), in("offsets"), in("x"), in("d"), in("count"), in("levels"), py::arg("max_cost"),
        R"(The law of a stratified bootstrap ratio X / D with infinitely many draws, numerator and denominator redrawn together (paper A.6).

offsets: int64 [strata + 1]; x, d, count: int64 [cells], cell j of stratum s (offsets[s] <= j < offsets[s + 1]) stands for
count[j] units that add (x[j], d[j]), d and count at least 0; levels: float64 [q], above 0 and at most 1; max_cost: grid points.
Returns (cost, P(D = 0), mean, sd, quantiles [q]); only the cost means anything where it exceeds max_cost. The cost is infinite
where a total may reach 2**53. ValueError for cells that do not fit together, no d above 0, or a law beyond 2**26 points.)");
  m.def("exact_law", &law, py::kw_only(), in("offsets"), in("x"), in("d"), in("count"),
        R"(All totals (X, D) of a stratified bootstrap draw and their probabilities, right to about 1e-14 absolute.

The cells are those of exact_ratio. Returns (X int64 [k], D int64 [k], probability float64 [k]), in no particular order.
ValueError as for exact_ratio.)");
  m.def("exact_sum", &sum, py::kw_only(), in("offsets"), in("value"), in("count"),
        R"(The law of the sum of a stratified bootstrap draw, by direct convolution with full relative accuracy in the tails.

offsets: int64 [strata + 1]; value, count: int64 [cells], as in exact_ratio. Returns (least sum, float64 probabilities from there
on). ValueError for cells that do not fit together, negative counts, or a sum that can take more than 2**22 values.)");
  m.def("quantiles", &select, py::kw_only(), in("values"), in("mass"), in("levels"),
        R"(Inverse-CDF quantiles: for each level the smallest value at or below which lies that share of the total mass.

values: float64 [n], 1 <= n < 2**31, finite; mass: float64 [n] of at least 0 with a finite sum above 0, or empty for one each;
levels: float64 [q], above 0 and at most 1. Returns float64 [q]. ValueError otherwise.)");
}

}  // namespace c2s::bindings
