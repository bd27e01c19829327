#include "arrays.hpp"
#include "c2s_core/calibration.hpp"
#include "c2s_core/signflip.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

// Holds copies of what the plans point to, so that an object lives on its own.
class Scores {
 public:
  Scores(const In<std::int64_t>& offsets, const In<std::int64_t>& unit, const In<std::uint8_t>& outcome,
         const In<double>& weight, const In<double>& scores, const In<bool>& calibrated)
      : offsets_(offsets.data(), offsets.data() + offsets.size()),
        unit_(unit.data(), unit.data() + unit.size()),
        outcome_(outcome.data(), outcome.data() + outcome.size()),
        weight_(weight.data(), weight.data() + weight.size()) {
    need(offsets_.size() >= 2 && offsets_.front() == 0 && offsets_.back() < (std::int64_t{1} << 31),
         "offsets must run from 0 to below 2**31");
    for (std::size_t s = 0; s + 1 < offsets_.size(); ++s) need(offsets_[s] <= offsets_[s + 1], "offsets must not fall");
    for (const auto u : unit_) need(0 <= u && u < offsets_.back(), "a unit lies outside the strata");
    need(outcome_.size() == unit_.size() && (weight_.empty() || weight_.size() == unit_.size()), "one outcome and weight per item");
    need(scores.ndim() == 2 && static_cast<std::size_t>(scores.shape(1)) == unit_.size() && calibrated.size() == scores.shape(0),
         "scores must be [scores, items]");
    const ScoreData data = this->data();
    for (py::ssize_t s = 0; s < scores.shape(0); ++s) {
      plans_.emplace_back(data, std::span(scores.data() + static_cast<std::size_t>(s) * unit_.size(), unit_.size()), calibrated.data()[s]);
    }
  }

  py::array_t<double> draw(const In<std::int32_t>& metrics, const In<double>& coverage, std::uint64_t seed, std::uint64_t first,
                           std::size_t count, int threads) const {
    const auto wanted = metrics_of(metrics);
    const auto shares = view(coverage);
    py::array_t<double> out(shape(count, wanted.size() + shares.size()));
    double* to = out.mutable_data();
    py::gil_scoped_release release;
    resample_scores(data(), plans_, wanted, shares, {seed, first, count}, threads, to);
    return out;
  }

  py::array_t<double> observed(const In<std::int32_t>& metrics, const In<double>& coverage) const {
    const auto wanted = metrics_of(metrics);
    const auto shares = view(coverage);
    const std::size_t width = wanted.size() + shares.size();
    py::array_t<double> out(shape(1, width));
    const std::vector<std::int32_t> once(static_cast<std::size_t>(offsets_.back()), 1);
    std::vector<double> mass(unit_.size());
    for (std::size_t s = 0; s < plans_.size(); ++s) {
      plans_[s].evaluate(once.data(), wanted, shares, mass.data(), out.mutable_data() + s * width);
    }
    return out;
  }

 private:
  static std::vector<Metric> metrics_of(const In<std::int32_t>& metrics) {
    std::vector<Metric> out;
    for (const auto m : view(metrics)) out.push_back(static_cast<Metric>(m));
    return out;
  }
  std::vector<py::ssize_t> shape(std::size_t draws, std::size_t width) const {
    return {static_cast<py::ssize_t>(draws), static_cast<py::ssize_t>(plans_.size()), static_cast<py::ssize_t>(width)};
  }
  ScoreData data() const noexcept { return {offsets_, unit_, outcome_, weight_}; }

  std::vector<std::int64_t> offsets_, unit_;
  std::vector<std::uint8_t> outcome_;
  std::vector<double> weight_;
  std::vector<ScorePlan> plans_;
};

py::array_t<double> law(const In<std::int64_t>& magnitude) {
  std::int64_t total = 0;
  for (const auto m : view(magnitude)) {
    need(m >= 0, "magnitudes must be at least 0");
    total += m;
  }
  py::array_t<double> out(total + 1);
  const auto values = view(magnitude);
  double* to = out.mutable_data();
  py::gil_scoped_release release;
  signflip_law(values, to, signal_poll());
  return out;
}

py::array_t<double> sums(const In<double>& difference, std::uint64_t seed, std::uint64_t first, std::size_t count, int threads) {
  py::array_t<double> out(static_cast<py::ssize_t>(count));
  const auto values = view(difference);
  double* to = out.mutable_data();
  py::gil_scoped_release release;
  signflip_sums(values, {seed, first, count}, threads, to);
  return out;
}

}  // namespace

void register_scores(py::module_& m) {
  const auto in = [](const char* name) { return py::arg(name).noconvert(); };
  // Evaluating reads the plans only, so one object may serve several threads at once.
  py::class_<Scores>(m, "Scores")
      .def(py::init<const In<std::int64_t>&, const In<std::int64_t>&, const In<std::uint8_t>&, const In<double>&,
                    const In<double>&, const In<bool>&>(),
           py::kw_only(), in("offsets"), in("unit"), in("outcome"), in("weight"), in("scores"), in("calibrated"))
      .def("draw", &Scores::draw, py::kw_only(), in("metrics"), in("coverage"), py::arg("seed"), py::arg("first"),
           py::arg("count"), py::arg("threads"))
      .def("observed", &Scores::observed, py::kw_only(), in("metrics"), in("coverage"));
  m.def("signflip_law", &law, py::kw_only(), in("magnitude"));
  m.def("signflip_sums", &sums, py::kw_only(), in("difference"), py::arg("seed"), py::arg("first"), py::arg("count"),
        py::arg("threads"));
}

}  // namespace c2s::bindings
