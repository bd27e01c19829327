#include "arrays.hpp"
#include "c2s_core/binomial.hpp"
#include "c2s_core/mcnemar.hpp"
#include "register.hpp"

namespace c2s::bindings {
namespace {

py::array_t<double> mcnemar(const In<std::int64_t>& b, const In<std::int64_t>& c) {
  need(b.ndim() == 1 && c.ndim() == 1 && b.size() == c.size(), "b and c must be one-dimensional and of equal length");
  py::array_t<double> out(b.size());
  const auto left = view(b), right = view(c);
  double* p = out.mutable_data();
  py::gil_scoped_release release;
  mcnemar_exact(left, right, p);
  return out;
}

py::tuple bounds(const In<std::int64_t>& k, const In<std::int64_t>& n, double confidence) {
  need(k.ndim() == 1 && n.ndim() == 1 && k.size() == n.size(), "k and n must be one-dimensional and of equal length");
  py::array_t<double> low(k.size()), high(k.size());
  const auto successes = view(k), trials = view(n);
  double *l = low.mutable_data(), *h = high.mutable_data();
  {
    py::gil_scoped_release release;
    for (std::size_t i = 0; i < successes.size(); ++i) {
      const ProportionBounds found = clopper_pearson(successes[i], trials[i], confidence);
      l[i] = found.low;
      h[i] = found.high;
    }
  }
  return py::make_tuple(low, high);
}

}  // namespace

void register_binomial(py::module_& m) {
  m.def("mcnemar_exact", &mcnemar, py::kw_only(), py::arg("b").noconvert(), py::arg("c").noconvert());
  m.def("clopper_pearson", &bounds, py::kw_only(), py::arg("k").noconvert(), py::arg("n").noconvert(),
        py::arg("confidence"));
  m.def(
      "binomial_tails",
      [](std::int64_t k, std::int64_t n, double p) {
        return py::make_tuple(binomial_pmf(k, n, p), binomial_lower(k, n, p), binomial_upper(k, n, p));
      },
      py::kw_only(), py::arg("k"), py::arg("n"), py::arg("p"));
}

}  // namespace c2s::bindings
