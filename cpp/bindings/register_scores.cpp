#include "arrays.hpp"
#include "c2s_core/calibration.hpp"
#include "c2s_core/signflip.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

constexpr std::int32_t kMetrics = static_cast<std::int32_t>(Metric::kBrierGain) + 1;

// Holds copies of what the plans point to, so that an object lives on its own.
class Scores {
 public:
  Scores(const In<std::int64_t>& offsets, const In<std::int64_t>& unit, const In<std::uint8_t>& outcome,
         const In<double>& weight, const In<double>& scores, const In<bool>& calibrated)
      : offsets_(copy("offsets", offsets)),
        unit_(copy("unit", unit)),
        outcome_(copy("outcome", outcome)),
        weight_(copy("weight", weight)) {
    const std::size_t n = unit_.size();
    need(offsets_.size() >= 2, "offsets must hold at least two entries");
    need(offsets_.back() >= 0 && offsets_.back() < std::int64_t{1} << 31, "offsets must stay below 2**31");
    const std::int64_t units = offsets_.back();
    need_offsets(offsets_, static_cast<std::size_t>(units), "units");
    need_each("unit", std::span<const std::int64_t>(unit_), "0 or more and below the last of offsets",
              [units](std::int64_t u) { return 0 <= u && u < units; });
    need(outcome_.size() == n, "outcome must hold one value per item");
    need_each("outcome", std::span<const std::uint8_t>(outcome_), "0 or 1", [](std::uint8_t y) { return y <= 1; });
    need(weight_.empty() || weight_.size() == n, "weight must be empty or hold one value per item");
    need_each("weight", std::span<const double>(weight_), "at least 0 and at most 1e100",
              [](double w) { return w >= 0 && w <= 1e100; });
    const auto values = view("scores", scores, 2, "[scores, items]");
    const auto k = static_cast<std::size_t>(scores.shape(0));
    need(static_cast<std::size_t>(scores.shape(1)) == n, "scores must be [scores, items]");
    need_finite("scores", values);
    // As bytes: an array that was made a boolean one by force may hold more than 0 and 1.
    need(calibrated.ndim() == 1 && static_cast<std::size_t>(calibrated.size()) == k, "calibrated must hold one flag per score");
    const auto* flags = static_cast<const std::uint8_t*>(static_cast<const void*>(calibrated.data()));
    const std::vector<std::uint8_t> in_unit(flags, flags + k);
    for (std::size_t s = 0; s < k; ++s) {
      const auto row = values.subspan(s * n, n);
      need(in_unit[s] <= 1, "calibrated must hold flags");
      if (in_unit[s] != 0) need_each("scores", row, "0 to 1 where calibrated", [](double v) { return v >= 0 && v <= 1; });
    }
    py::gil_scoped_release release;
    const Poll poll = signal_poll();
    for (std::size_t s = 0; s < k; ++s) plans_.emplace_back(data(), values.subspan(s * n, n), in_unit[s] != 0, poll);
  }

  py::array_t<double> draw(const std::vector<Metric>& metrics, std::span<const double> coverage, const DrawRange& range,
                           int threads) const {
    auto out = fresh<double>("count, metrics and coverage", {range.count, plans_.size(), metrics.size() + coverage.size()});
    double* to = out.mutable_data();
    py::gil_scoped_release release;
    resample_scores(data(), plans_, metrics, coverage, range, threads, to, signal_poll());
    return out;
  }

  py::array_t<double> observed(const std::vector<Metric>& metrics, std::span<const double> coverage) const {
    const std::size_t width = metrics.size() + coverage.size();
    auto out = fresh<double>("metrics and coverage", {1, plans_.size(), width});
    double* to = out.mutable_data();
    py::gil_scoped_release release;
    const Poll poll = signal_poll();
    const std::vector<std::int32_t> once(static_cast<std::size_t>(offsets_.back()), 1);
    std::vector<double> mass(unit_.size());
    for (std::size_t s = 0; s < plans_.size(); ++s) {
      plans_[s].evaluate(once.data(), metrics, coverage, mass.data(), to + s * width);
      poll();
    }
    return out;
  }

 private:
  template <class T>
  static std::vector<T> copy(const char* name, const In<T>& array) {
    const auto values = list(name, array);
    return {values.begin(), values.end()};
  }
  ScoreData data() const noexcept { return {offsets_, unit_, outcome_, weight_}; }

  std::vector<std::int64_t> offsets_, unit_;
  std::vector<std::uint8_t> outcome_;
  std::vector<double> weight_;
  std::vector<ScorePlan> plans_;
};

std::vector<Metric> metrics_of(const In<std::int32_t>& metrics) {
  const auto numbers = list("metrics", metrics);
  need_each("metrics", numbers, "0 (AUROC) to 5 (Brier gain)", [](std::int32_t m) { return 0 <= m && m < kMetrics; });
  std::vector<Metric> out;
  for (const auto m : numbers) out.push_back(static_cast<Metric>(m));
  return out;
}

std::span<const double> coverage_of(const In<double>& coverage) {
  const auto shares = list("coverage", coverage);
  need_each("coverage", shares, "above 0 and at most 1", [](double c) { return c > 0 && c <= 1; });
  need(std::is_sorted(shares.begin(), shares.end()), "coverage must not fall");
  return shares;
}

py::array_t<double> draw(const py::object& self, const In<std::int32_t>& metrics, const In<double>& coverage, const Int& seed,
                         const Int& first, const Int& count, const Int& threads) {
  const auto& scores = held<Scores>(self);
  return scores.draw(metrics_of(metrics), coverage_of(coverage), draw_range(seed, first, count), thread_count(threads));
}

py::array_t<double> observed(const py::object& self, const In<std::int32_t>& metrics, const In<double>& coverage) {
  return held<Scores>(self).observed(metrics_of(metrics), coverage_of(coverage));
}

py::array_t<double> law(const In<std::int64_t>& magnitude) {
  const auto values = list("magnitude", magnitude);
  need_each("magnitude", values, "at least 0", [](std::int64_t m) { return m >= 0; });
  const std::int64_t total = need_sum("magnitude", values, (std::int64_t{1} << 31) - 1, "below 2**31");
  auto out = fresh<double>("magnitude", {static_cast<std::size_t>(total) + 1});
  double* to = out.mutable_data();
  py::gil_scoped_release release;
  signflip_law(values, to, signal_poll());
  return out;
}

py::array_t<double> sums(const In<double>& difference, const Int& seed, const Int& first, const Int& count, const Int& threads) {
  const auto values = list("difference", difference);
  need(values.size() <= std::size_t{1} << 24, "difference must hold at most 2**24 numbers");  // 256 bytes of tables for each
  need_finite("difference", values);
  const DrawRange range = draw_range(seed, first, count);
  const int workers = thread_count(threads);
  auto out = fresh<double>("count", {range.count});
  double* to = out.mutable_data();
  py::gil_scoped_release release;
  signflip_sums(values, range, workers, to, signal_poll());
  return out;
}

}  // namespace

void register_scores(py::module_& m) {
  const auto in = [](const char* name) { return py::arg(name).noconvert(); };
  // Evaluating reads the plans only, so one object may serve several threads at once.
  py::class_<Scores>(m, "Scores",
                     R"(Several scores against one outcome, prepared for resampling: discrimination, calibration, selection (paper A.6, D.14, D.15).

Metrics are numbered 0 AUROC, 1 average precision, 2 Brier, 3 ECE with ten bins, 4 prevalence, 5 Brier gain over the prevalence.)")
      .def(py::init<const In<std::int64_t>&, const In<std::int64_t>&, const In<std::uint8_t>&, const In<double>&,
                    const In<double>&, const In<bool>&>(),
           py::kw_only(), in("offsets"), in("unit"), in("outcome"), in("weight"), in("scores"), in("calibrated"),
           R"(Sort the items by each score, once.

offsets: int64 [strata + 1], in resampling units, below 2**31; unit: int64 [items], the unit of each item; outcome: uint8 [items],
0 or 1; weight: float64 [items] of 0 to 1e100, or empty for one each; scores: finite float64 [scores, items]; calibrated: bool
[scores], whether a score lies in 0 to 1, so that Brier and ECE mean something. ValueError for anything else.)")
      .def("draw", &draw, py::kw_only(), in("metrics"), in("coverage"), py::arg("seed"), py::arg("first"), py::arg("count"),
           py::arg("threads"),
           R"(The metrics of each bootstrap draw: float64 [count, scores, metrics then coverages], NaN where undefined.

metrics: int32 numbers from 0 to 5; coverage: float64 shares above 0 and at most 1 that do not fall, each gives the precision among
that share of highest scores. seed, first, count, threads as for resample_sums. ValueError for anything else.)")
      .def("observed", &observed, py::kw_only(), in("metrics"), in("coverage"),
           R"(The metrics of the sample as it is: float64 [1, scores, metrics then coverages], NaN where undefined.

metrics and coverage as for draw. ValueError for anything else.)");
  m.def("signflip_law", &law, py::kw_only(), in("magnitude"),
        R"(The law of the sum T of the magnitudes that get a plus sign, each with probability 1/2, by dynamic programming.

magnitude: int64 [n] of at least 0, with a sum below 2**31. Returns float64 [sum + 1], P(T = t). ValueError otherwise.)");
  m.def("signflip_sums", &sums, py::kw_only(), in("difference"), py::arg("seed"), py::arg("first"), py::arg("count"),
        py::arg("threads"),
        R"(Sums of randomly signed differences, one per draw: float64 [count].

difference: finite float64 [n], n at most 2**24. seed, first, count, threads as for resample_sums. ValueError for anything else.)");
}

}  // namespace c2s::bindings
