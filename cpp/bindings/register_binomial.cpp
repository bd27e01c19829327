#include "arrays.hpp"
#include "c2s_core/binomial.hpp"
#include "c2s_core/mcnemar.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

py::array_t<double> mcnemar(const In<std::int64_t>& b, const In<std::int64_t>& c) {
  const auto left = list("b", b), right = list("c", c);
  need(left.size() == right.size(), "b and c must be of equal length");
  need_counts("b", left);
  need_counts("c", right);
  auto out = fresh<double>("b", {left.size()});
  double* p = out.mutable_data();
  py::gil_scoped_release release;
  mcnemar_exact(left, right, p, signal_poll());
  return out;
}

py::tuple bounds(const In<std::int64_t>& k, const In<std::int64_t>& n, double confidence) {
  const auto successes = list("k", k), trials = list("n", n);
  need(successes.size() == trials.size(), "k and n must be of equal length");
  need_counts("k", successes);
  need_counts("n", trials);
  for (std::size_t i = 0; i < trials.size(); ++i) {
    if (trials[i] < 1 || successes[i] > trials[i]) {
      refuse("k[" + std::to_string(i) + "] and n[" + std::to_string(i) + "] must satisfy 0 <= k <= n and n >= 1");
    }
  }
  need(confidence > 0 && confidence < 1, "confidence must lie between 0 and 1, both excluded");
  auto low = fresh<double>("k", {successes.size()}), high = fresh<double>("k", {successes.size()});
  double *l = low.mutable_data(), *h = high.mutable_data();
  {
    py::gil_scoped_release release;
    const Poll poll = signal_poll();
    Ticker tick(poll);
    for (std::size_t i = 0; i < successes.size(); ++i) {
      const ProportionBounds found = clopper_pearson(successes[i], trials[i], confidence, tick);
      l[i] = found.low;
      h[i] = found.high;
    }
  }
  return py::make_tuple(low, high);
}

py::tuple tails(const Int& k, const Int& n, double p) {
  const auto trials = static_cast<std::int64_t>(whole("n", n, kMaxCount));
  const auto successes = static_cast<std::int64_t>(whole("k", k, kMaxCount));
  need(successes <= trials, "k must be at most n");
  need(p >= 0 && p <= 1, "p must be a number from 0 to 1");
  double mass, lower, upper;
  {
    py::gil_scoped_release release;
    const Poll poll = signal_poll();
    Ticker tick(poll);
    mass = binomial_pmf(successes, trials, p);
    lower = binomial_lower(successes, trials, p, tick);
    upper = binomial_upper(successes, trials, p, tick);
  }
  return py::make_tuple(mass, lower, upper);
}

}  // namespace

void register_binomial(py::module_& m) {
  m.def("mcnemar_exact", &mcnemar, py::kw_only(), py::arg("b").noconvert(), py::arg("c").noconvert(),
        R"(Two-sided exact McNemar p of each pair of discordant counts: min(1, 2 P(Bin(b + c, 1/2) <= min(b, c))) (paper A.6).

b, c: int64 [n], each from 0 to 2**53 - 1. Returns float64 [n], 1 where b = c.
ValueError for counts outside that range or unequal lengths.)");
  m.def("clopper_pearson", &bounds, py::kw_only(), py::arg("k").noconvert(), py::arg("n").noconvert(), py::arg("confidence"),
        R"(Two-sided exact binomial intervals for k successes in n trials (Clopper and Pearson 1934).

k, n: int64 [m], 0 <= k <= n, 1 <= n < 2**53; confidence: between 0 and 1, both excluded.
Returns (low, high), two float64 arrays [m]. ValueError for anything outside these ranges.)");
  m.def("binomial_tails", &tails, py::kw_only(), py::arg("k"), py::arg("n"), py::arg("p"),
        R"((P(X = k), P(X <= k), P(X >= k)) for X ~ Bin(n, p), with full relative accuracy (Loader 2000).

0 <= k <= n < 2**53, 0 <= p <= 1; ValueError otherwise.)");
}

}  // namespace c2s::bindings
