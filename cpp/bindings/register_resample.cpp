#include <algorithm>
#include <array>
#include <memory>

#include "arrays.hpp"
#include "c2s_core/bootstrap.hpp"
#include "c2s_core/resample.hpp"
#include "c2s_core/rng.hpp"
#include "cells.hpp"
#include "register.hpp"
#include "signals.hpp"

namespace c2s::bindings {
namespace {

// A draw adds at most `units` times the largest value of a column: that must fit into a word.
void need_no_overflow(std::span<const std::uint64_t> values, std::size_t units, std::size_t columns) {
  const std::uint64_t most = units == 0 ? 0 : std::numeric_limits<std::uint64_t>::max() / units;
  for (std::size_t i = 0; i < values.size(); ++i) {
    if (values[i] > most) {
      refuse("values[" + std::to_string(i / columns) + ", " + std::to_string(i % columns) +
             "] is too large: a sum of as many values as there are units must stay below 2**64");
    }
  }
}

template <class T>
py::array_t<T> items(const In<std::int64_t>& offsets, const In<T>& values, const Int& seed, const Int& first, const Int& count,
                     const Int& threads) {
  const auto at = list("offsets", offsets);
  const auto data = view("values", values, 2, "[units, columns]");
  const auto units = static_cast<std::size_t>(values.shape(0)), columns = static_cast<std::size_t>(values.shape(1));
  need_offsets(at, units, "units");
  need_pickable(at);
  const DrawRange range = draw_range(seed, first, count);
  const int workers = thread_count(threads);
  if constexpr (std::is_same_v<T, double>) need_finite("values", data);
  else need_no_overflow(data, units, columns);
  auto out = fresh<T>("count and values", {range.count, columns});
  T* to = out.mutable_data();
  py::gil_scoped_release release;
  if constexpr (std::is_same_v<T, double>) resample_sums(at, data, columns, range, workers, to, signal_poll());
  else resample_packed(at, data, columns, range, workers, to, signal_poll());
  return out;
}

std::unique_ptr<Multinomial> tables(const In<std::int64_t>& offsets, const In<std::int64_t>& x, const In<std::int64_t>& d,
                                    const In<std::int64_t>& count, const In<double>& x_scale, const In<double>& d_scale,
                                    double max_cost) {
  const RatioCells cells = cells_of(offsets, x, d, count);
  const auto xs = list("x_scale", x_scale), ds = list("d_scale", d_scale);
  need(xs.size() == cells.strata(), "x_scale must hold one scale per stratum");
  need(ds.size() == cells.strata(), "d_scale must hold one scale per stratum");
  need_finite("x_scale", xs);
  need_finite("d_scale", ds);
  need_cost(max_cost);
  py::gil_scoped_release release;
  return std::make_unique<Multinomial>(cells, xs, ds, max_cost, signal_poll());
}

const Multinomial& built(const py::object& self) {
  const auto& found = held<Multinomial>(self);
  need(found.tables() > 0, "no tables were built, because the law of a stratum is too large (too_large)");
  return found;
}

const Multinomial& single(const py::object& self) {
  const auto& found = built(self);
  need(found.tables() == 1, "several tables have no common states");
  return found;
}

py::tuple draw(const py::object& self, const Int& seed, const Int& first, const Int& count, const Int& threads) {
  const Multinomial& from = built(self);
  const DrawRange range = draw_range(seed, first, count);
  const int workers = thread_count(threads);
  auto x = fresh<double>("count", {range.count}), d = fresh<double>("count", {range.count});
  double *to_x = x.mutable_data(), *to_d = d.mutable_data();
  {
    py::gil_scoped_release release;
    from.draw(range, workers, to_x, to_d, signal_poll());
  }
  return py::make_tuple(x, d);
}

py::array_t<double> ratios(const py::object& self, const Int& seed, const Int& first, const Int& count, const Int& threads) {
  const Multinomial& from = built(self);
  const DrawRange range = draw_range(seed, first, count);
  const int workers = thread_count(threads);
  auto out = fresh<double>("count", {range.count});
  double* to = out.mutable_data();
  py::gil_scoped_release release;
  from.draw_ratios(range, workers, to, signal_poll());
  return out;
}

py::array_t<double> state_ratios(const py::object& self) { return to_array(single(self).state_ratios()); }

py::array_t<std::int64_t> tally(const py::object& self, const Int& seed, const Int& first, const Int& count, const Int& threads) {
  const Multinomial& from = single(self);
  const DrawRange range = draw_range(seed, first, count);
  const int workers = thread_count(threads);
  auto out = fresh<std::int64_t>("states", {from.states()});
  std::int64_t* to = out.mutable_data();
  py::gil_scoped_release release;
  from.tally(range, workers, to, signal_poll());
  return out;
}

template <std::size_t N>
std::array<std::uint32_t, N> words_of(const char* name, const py::sequence& values) {
  if (values.size() != N) refuse(std::string(name) + " must hold " + std::to_string(N) + " words");
  std::array<std::uint32_t, N> out{};
  for (std::size_t i = 0; i < N; ++i) {
    const py::object value = values[i];
    if (!PyIndex_Check(value.ptr())) throw py::type_error(std::string(name) + " must hold integers");
    out[i] = static_cast<std::uint32_t>(whole(name, py::reinterpret_borrow<Int>(value), 0xffffffff));
  }
  return out;
}

py::list block(const py::sequence& counter, const py::sequence& key) {
  py::list out;
  for (const auto word : philox4x32_10(words_of<4>("counter", counter), words_of<2>("key", key))) out.append(word);
  return out;
}

py::array_t<std::uint32_t> words(const Int& seed, const Int& stream, const Int& first_draw, const Int& block, const Int& count,
                                 bool over_draws) {
  constexpr std::size_t kPiece = 4096;
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  constexpr std::uint64_t kMostWord = 0xffffffff;
  const auto which = static_cast<Stream>(whole("stream", stream, kMostWord));
  const std::uint64_t key = whole("seed", seed, kMost), draw = whole("first_draw", first_draw, kMost),
                      first = whole("block", block, kMostWord), n = whole("count", count, kMostWord);
  if (over_draws) need(draw <= kMost - n, "first_draw + count must be below 2**64");
  else need(first + n <= kMostWord + 1, "block + count must be at most 2**32");
  auto out = fresh<std::uint32_t>("count", {n, 4});
  std::uint32_t* to = out.mutable_data();
  py::gil_scoped_release release;
  const Poll poll = signal_poll();
  Ticker tick(poll);
  std::vector<std::uint32_t> padded(4 * philox_padded(kPiece));
  for (std::size_t at = 0; at < n; at += kPiece) {
    const std::size_t size = std::min<std::size_t>(kPiece, n - at);
    if (over_draws) philox_draws(key, which, draw + at, static_cast<std::uint32_t>(first), size, padded.data());
    else philox_blocks(key, which, draw, static_cast<std::uint32_t>(first + at), size, padded.data());
    std::copy_n(padded.data(), 4 * size, to + 4 * at);
    tick(4 * size);
  }
  return out;
}

std::string level(const std::string& force) {
  need(force.empty() || force == "avx512" || force == "avx2" || force == "scalar",
       "force must be avx512, avx2, scalar or empty");
  if (!force.empty()) philox_force(force.c_str());
  return philox_level();
}

constexpr const char* kDraws = R"(

seed: 0 to 2**64 - 1; first: number of the first draw; count: draws, below 2**32; first + count below 2**64; threads: 1 to 1024.
Draw t is a function of (seed, t) alone: threads and batches change nothing. ValueError for anything else)";

}  // namespace

void register_resample(py::module_& m) {
  const auto in = [](const char* name) { return py::arg(name).noconvert(); };
  const auto with_draws = [](const char* what, const char* raises = ".") { return what + std::string(kDraws) + raises; };
  const std::string item_arguments =
      "\n\noffsets: int64 [strata + 1], units of stratum s are offsets[s] <= i < offsets[s + 1], fewer than 2**32 in each; returns\n"
      "[count, columns].";
  m.def("resample_packed", &items<std::uint64_t>, py::kw_only(), in("offsets"), in("values"), py::arg("seed"),
        py::arg("first"), py::arg("count"), py::arg("threads"),
        with_draws(("Sums of 64-bit words over stratified bootstrap draws; a word may hold several counters. values: uint64 "
                    "[units, columns]." + item_arguments).c_str(),
                   ",\nand where units times a word could pass 2**64.").c_str());
  m.def("resample_sums", &items<double>, py::kw_only(), in("offsets"), in("values"), py::arg("seed"), py::arg("first"),
        py::arg("count"), py::arg("threads"),
        with_draws(("Sums over stratified bootstrap draws. values: finite float64 [units, columns], added in the order of the picks." +
                    item_arguments).c_str()).c_str());
  // Drawing reads the tables only, so one object may serve several threads at once.
  py::class_<Multinomial>(m, "Multinomial",
                          R"(The bootstrap by joint cells: alias tables over the totals (X, D) of merged strata (paper A.6).

A draw looks up the totals of whole strata without touching an item. One object may serve several threads at once.)")
      .def(py::init(&tables), py::kw_only(), in("offsets"), in("x"), in("d"), in("count"), in("x_scale"), in("d_scale"),
           py::arg("max_cost"),
           R"(Build the tables. The cells are those of exact_ratio; stratum s adds x_scale[s] * X and d_scale[s] * D.

x_scale, d_scale: finite float64 [strata]; only strata of equal scales are merged. max_cost: grid points of the law of one
stratum, at least 0; a stratum beyond it (or 2**26) leaves no tables and sets too_large. ValueError for anything else.)")
      .def_property_readonly(
          "too_large", [](const py::object& self) { return held<Multinomial>(self).too_large(); },
          "The cost, in grid points, of the first stratum that exceeds max_cost; 0 where the tables were built.")
      .def_property_readonly(
          "tables", [](const py::object& self) { return held<Multinomial>(self).tables(); },
          "The number of alias tables that a draw looks up, one for each group of merged strata.")
      .def_property_readonly(
          "states", [](const py::object& self) { return held<Multinomial>(self).states(); },
          "The number of states, joint totals (X, D) of positive probability, in all tables together.")
      .def("state_ratios", &state_ratios,
           R"(X / D of each state, NaN where D is 0: float64 [states].

ValueError unless one table holds all strata.)")
      .def("tally", &tally, py::kw_only(), py::arg("seed"), py::arg("first"), py::arg("count"), py::arg("threads"),
           with_draws("How many of the draws fall on each state: int64 [states].", ",\nand unless one table holds all strata.").c_str())
      .def("ratios", &ratios, py::kw_only(), py::arg("seed"), py::arg("first"), py::arg("count"), py::arg("threads"),
           with_draws("X / D of each draw, NaN where D is 0: float64 [count].").c_str())
      .def("draw", &draw, py::kw_only(), py::arg("seed"), py::arg("first"), py::arg("count"), py::arg("threads"),
           with_draws("The totals (X, D) of each draw: two float64 arrays [count].").c_str());
  m.def("philox", &block, py::kw_only(), py::arg("counter"), py::arg("key"),
        R"(One block of Philox4x32-10, a counter-based random generator (Salmon, Moraes, Dror and Shaw 2011).

counter: four 32-bit words, key: two. Returns four words. ValueError for another length or a word outside 0 to 2**32 - 1.)");
  m.def("philox_words", &words, py::kw_only(), py::arg("seed"), py::arg("stream"), py::arg("first_draw"), py::arg("block"),
        py::arg("count"), py::arg("over_draws"),
        R"(Words of successive blocks of one draw, or (over_draws) of the same block of successive draws: uint32 [count, 4].

seed, first_draw: 0 to 2**64 - 1; stream, block, count: 0 to 2**32 - 1. ValueError for anything else, and where the last block
or draw would lie beyond that range.)");
  m.def("philox_level", &level, py::kw_only(), py::arg("force"),
        R"(The instruction set that the generator uses: avx512, avx2 or scalar. All give the same words.

force: switch to that one first, where the machine has it; an empty string changes nothing. ValueError for another name.)");
}

}  // namespace c2s::bindings
