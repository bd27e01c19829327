#include "arrays.hpp"
#include "c2s_core/exact.hpp"
#include "c2s_core/select.hpp"
#include "c2s_core/sum_law.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

RatioCells cells_of(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
                    const In<std::int64_t>& count) {
  need(offsets.ndim() == 1 && offsets.size() >= 2, "offsets must hold at least two entries");
  const auto at = view(offsets);
  for (std::size_t s = 0; s + 1 < at.size(); ++s) need(at[s] <= at[s + 1], "offsets must not fall");
  need(at.front() == 0 && at.back() == x.size() && x.size() == d.size() && d.size() == count.size(),
       "offsets, x, d and count do not fit together");
  return {at, view(x), view(d), view(count)};
}

template <class T>
py::array_t<T> to_array(const std::vector<T>& values) {
  return py::array_t<T>(static_cast<py::ssize_t>(values.size()), values.data());
}

py::tuple ratio(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
                const In<std::int64_t>& count, const In<double>& levels, double max_cost) {
  const RatioCells cells = cells_of(offsets, x, d, count);
  const auto wanted = view(levels);
  double cost;
  RatioSummary out{};
  {
    py::gil_scoped_release release;
    const Grid grid = plan_grid(cells);
    cost = law_cost(cells, grid);
    if (cost <= max_cost) out = summarise(cells, exact_law(cells, grid, signal_poll()), wanted);
  }
  return py::make_tuple(cost, out.undefined, out.mean, out.sd, to_array(out.quantiles));
}

py::tuple law(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
              const In<std::int64_t>& count) {
  const RatioCells cells = cells_of(offsets, x, d, count);
  Law found;
  {
    py::gil_scoped_release release;
    found = exact_law(cells, plan_grid(cells), signal_poll());
  }
  return py::make_tuple(to_array(found.x), to_array(found.d), to_array(found.mass));
}

py::tuple sum(const In<std::int64_t>& offsets, const In<std::int64_t>& value, const In<std::int64_t>& count) {
  const RatioCells cells = cells_of(offsets, value, value, count);
  SumLaw found;
  {
    py::gil_scoped_release release;
    found = exact_sum(cells.offsets, cells.x, cells.count, signal_poll());
  }
  return py::make_tuple(found.low, to_array(found.mass));
}

py::array_t<double> select(const In<double>& values, const In<double>& mass, const In<double>& levels) {
  need(values.size() > 0 && (mass.size() == 0 || mass.size() == values.size()), "values and mass do not fit together");
  const auto v = view(values), m = view(mass), q = view(levels);
  std::vector<double> found;
  {
    py::gil_scoped_release release;
    found = quantiles(v, m, q);
  }
  return to_array(found);
}

}  // namespace

void register_exact(py::module_& m) {
  const auto in = [](const char* name) { return py::arg(name).noconvert(); };
  m.def("exact_ratio", &ratio, py::kw_only(), in("offsets"), in("x"), in("d"), in("count"), in("levels"),
        py::arg("max_cost"));
  m.def("exact_law", &law, py::kw_only(), in("offsets"), in("x"), in("d"), in("count"));
  m.def("exact_sum", &sum, py::kw_only(), in("offsets"), in("value"), in("count"));
  m.def("quantiles", &select, py::kw_only(), in("values"), in("mass"), in("levels"));
}

}  // namespace c2s::bindings
