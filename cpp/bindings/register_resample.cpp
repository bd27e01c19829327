#include <pybind11/stl.h>

#include <algorithm>
#include <memory>
#include <string>

#include "arrays.hpp"
#include "c2s_core/bootstrap.hpp"
#include "c2s_core/resample.hpp"
#include "c2s_core/rng.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

void need_offsets(const In<std::int64_t>& offsets, py::ssize_t units) {
  need(offsets.ndim() == 1 && offsets.size() >= 2, "offsets must hold at least two entries");
  const auto at = view(offsets);
  need(at.front() == 0 && at.back() == units, "offsets do not fit the units");
  for (std::size_t s = 0; s + 1 < at.size(); ++s) {
    need(at[s] <= at[s + 1] && at[s + 1] - at[s] < (std::int64_t{1} << 32), "offsets must not fall, strata stay below 2**32");
  }
}

template <class T>
py::array_t<T> items(const In<std::int64_t>& offsets, const In<T>& values, std::uint64_t seed, std::uint64_t first,
                     std::size_t count, int threads) {
  need(values.ndim() == 2, "values must be [units, columns]");
  need_offsets(offsets, values.shape(0));
  const auto columns = static_cast<std::size_t>(values.shape(1));
  py::array_t<T> out({static_cast<py::ssize_t>(count), values.shape(1)});
  const auto at = view(offsets);
  const auto data = view(values);
  T* to = out.mutable_data();
  py::gil_scoped_release release;
  if constexpr (std::is_same_v<T, double>) resample_sums(at, data, columns, {seed, first, count}, threads, to);
  else resample_packed(at, data, columns, {seed, first, count}, threads, to);
  return out;
}

std::unique_ptr<Multinomial> tables(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
                                    const In<std::int64_t>& count, const In<double>& x_scale, const In<double>& d_scale,
                                    double max_cost) {
  need_offsets(offsets, x.size());
  need(x.size() == d.size() && x.size() == count.size(), "x, d and count must be of equal length");
  need(x_scale.size() + 1 == offsets.size() && d_scale.size() + 1 == offsets.size(), "one scale per stratum is needed");
  const RatioCells cells{view(offsets), view(x), view(d), view(count)};
  const auto xs = view(x_scale), ds = view(d_scale);
  py::gil_scoped_release release;
  return std::make_unique<Multinomial>(cells, xs, ds, max_cost, signal_poll());
}

py::tuple draw(const Multinomial& self, std::uint64_t seed, std::uint64_t first, std::size_t count, int threads) {
  py::array_t<double> x(static_cast<py::ssize_t>(count)), d(static_cast<py::ssize_t>(count));
  double *to_x = x.mutable_data(), *to_d = d.mutable_data();
  {
    py::gil_scoped_release release;
    self.draw({seed, first, count}, threads, to_x, to_d);
  }
  return py::make_tuple(x, d);
}

py::array_t<double> ratios(const Multinomial& self, std::uint64_t seed, std::uint64_t first, std::size_t count, int threads) {
  py::array_t<double> out(static_cast<py::ssize_t>(count));
  double* to = out.mutable_data();
  py::gil_scoped_release release;
  self.draw_ratios({seed, first, count}, threads, to);
  return out;
}

py::array_t<double> state_ratios(const Multinomial& self) {
  need(self.tables() == 1, "several tables have no common states");
  const auto found = self.state_ratios();
  return py::array_t<double>(static_cast<py::ssize_t>(found.size()), found.data());
}

py::array_t<std::int64_t> tally(const Multinomial& self, std::uint64_t seed, std::uint64_t first, std::size_t count, int threads) {
  need(self.tables() == 1, "several tables have no common states");
  need(count < (std::size_t{1} << 32), "tally below 2**32 draws at a time");
  py::array_t<std::int64_t> out(static_cast<py::ssize_t>(self.states()));
  std::int64_t* to = out.mutable_data();
  py::gil_scoped_release release;
  self.tally({seed, first, count}, threads, to);
  return out;
}

py::array_t<std::uint32_t> words(std::uint64_t seed, std::uint32_t stream, std::uint64_t first_draw, std::uint32_t block,
                                 std::size_t count, bool over_draws) {
  std::vector<std::uint32_t> padded(4 * philox_padded(count));
  const auto which = static_cast<Stream>(stream);
  if (over_draws) philox_draws(seed, which, first_draw, block, count, padded.data());
  else philox_blocks(seed, which, first_draw, block, count, padded.data());
  py::array_t<std::uint32_t> out({static_cast<py::ssize_t>(count), py::ssize_t{4}});
  std::copy_n(padded.data(), 4 * count, out.mutable_data());
  return out;
}

}  // namespace

void register_resample(py::module_& m) {
  const auto in = [](const char* name) { return py::arg(name).noconvert(); };
  m.def("resample_packed", &items<std::uint64_t>, py::kw_only(), in("offsets"), in("values"), py::arg("seed"),
        py::arg("first"), py::arg("count"), py::arg("threads"));
  m.def("resample_sums", &items<double>, py::kw_only(), in("offsets"), in("values"), py::arg("seed"), py::arg("first"),
        py::arg("count"), py::arg("threads"));
  // Drawing reads the tables only, so one object may serve several threads at once.
  py::class_<Multinomial>(m, "Multinomial")
      .def(py::init(&tables), py::kw_only(), in("offsets"), in("x"), in("d"), in("count"), in("x_scale"), in("d_scale"),
           py::arg("max_cost"))
      .def_property_readonly("too_large", &Multinomial::too_large)
      .def_property_readonly("tables", &Multinomial::tables)
      .def_property_readonly("states", &Multinomial::states)
      .def("state_ratios", &state_ratios)
      .def("tally", &tally, py::kw_only(), py::arg("seed"), py::arg("first"), py::arg("count"), py::arg("threads"))
      .def("ratios", &ratios, py::kw_only(), py::arg("seed"), py::arg("first"), py::arg("count"), py::arg("threads"))
      .def("draw", &draw, py::kw_only(), py::arg("seed"), py::arg("first"), py::arg("count"), py::arg("threads"));
  m.def("philox", [](PhiloxCounter counter, PhiloxKey key) { return philox4x32_10(counter, key); }, py::kw_only(),
        py::arg("counter"), py::arg("key"));
  m.def("philox_words", &words, py::kw_only(), py::arg("seed"), py::arg("stream"), py::arg("first_draw"), py::arg("block"),
        py::arg("count"), py::arg("over_draws"));
  m.def(
      "philox_level",
      [](const std::string& force) {
        if (!force.empty()) philox_force(force.c_str());
        return philox_level();
      },
      py::kw_only(), py::arg("force"));
}

}  // namespace c2s::bindings
