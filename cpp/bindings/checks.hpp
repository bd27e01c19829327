// The checks that stand between Python and the core, which trusts its callers. Each raises a ValueError that names the argument.
#pragma once

#include <pybind11/pybind11.h>

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <span>
#include <stdexcept>
#include <string>

#include "c2s_core/resample.hpp"

namespace c2s::bindings {

namespace py = pybind11;

[[noreturn]] inline void refuse(const std::string& message) { throw std::invalid_argument(message); }

inline void need(bool condition, const char* message) {
  if (!condition) refuse(message);
}

// Any Python or NumPy integer, not yet checked.
class Int : public py::object {
 public:
  PYBIND11_OBJECT_DEFAULT(Int, py::object, PyIndex_Check)
};

// `value` as a number from 0 to `most`.
inline std::uint64_t whole(const char* name, const Int& value, std::uint64_t most) {
  auto index = py::reinterpret_borrow<py::object>(value);
  if (!PyLong_CheckExact(value.ptr())) {
    index = py::reinterpret_steal<py::object>(PyNumber_Index(value.ptr()));
    if (!index) throw py::error_already_set();
  }
  const std::uint64_t number = PyLong_AsUnsignedLongLong(index.ptr());
  const bool overflow = PyErr_Occurred() != nullptr;  // also where it is below 0
  if (overflow) PyErr_Clear();
  if (overflow || number > most) refuse(std::string(name) + " must be an integer from 0 to " + std::to_string(most));
  return number;
}

// Every value passes `good`; the message names the first that does not. The first loop is free of branches, so that it vectorises.
template <class T, class Good>
void need_each(const char* name, std::span<const T> values, const char* allowed, const Good& good) {
  std::int64_t wrong = 0;
  for (const T v : values) wrong |= good(v) ? 0 : 1;
  if (wrong == 0) return;
  const auto bad = std::find_if_not(values.begin(), values.end(), good) - values.begin();
  refuse(std::string(name) + "[" + std::to_string(bad) + "] must be " + allowed);
}

inline void need_finite(const char* name, std::span<const double> values) {
  need_each(name, values, "finite", [](double v) { return std::fabs(v) <= std::numeric_limits<double>::max(); });
}

// Counts stay in the range where doubles hold every integer.
inline constexpr std::int64_t kMaxCount = (std::int64_t{1} << 53) - 1;

inline void need_counts(const char* name, std::span<const std::int64_t> values) {
  need_each(name, values, "0 to 2**53 - 1", [](std::int64_t v) { return v >= 0 && v <= kMaxCount; });
}

// The sum of values that are at least 0, at most `most`.
inline std::int64_t need_sum(const char* name, std::span<const std::int64_t> values, std::int64_t most, const char* allowed) {
  std::int64_t sum = 0;
  for (const std::int64_t v : values) {
    if (v > most - sum) refuse(std::string("the sum of ") + name + " must be " + allowed);
    sum += v;
  }
  return sum;
}

// Offsets that cut `units` units into strata: they start at 0, end at `units` and never fall.
inline void need_offsets(std::span<const std::int64_t> offsets, std::size_t units, const char* what) {
  need(offsets.size() >= 2, "offsets must hold at least two entries");
  if (offsets.front() != 0 || static_cast<std::uint64_t>(offsets.back()) != units) {
    refuse(std::string("offsets must run from 0 to the number of ") + what);
  }
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    if (offsets[s] > offsets[s + 1]) refuse("offsets must not fall, as they do at offsets[" + std::to_string(s + 1) + "]");
  }
}

// Units that are picked one by one: a pick is a 32-bit share of its stratum, and a block of four picks has a 32-bit number.
inline void need_pickable(std::span<const std::int64_t> offsets) {
  need(offsets.back() <= std::int64_t{1} << 34, "offsets must stay at or below 2**34");
  for (std::size_t s = 0; s + 1 < offsets.size(); ++s) {
    need(offsets[s + 1] - offsets[s] < std::int64_t{1} << 32, "offsets: a stratum must hold fewer than 2**32 units");
  }
}

inline DrawRange draw_range(const Int& seed, const Int& first, const Int& count) {
  constexpr auto kMost = std::numeric_limits<std::uint64_t>::max();
  const DrawRange range{whole("seed", seed, kMost), whole("first", first, kMost), whole("count", count, 0xffffffff)};
  need(range.first <= kMost - range.count, "first + count must be below 2**64");
  return range;
}

inline int thread_count(const Int& threads) {
  const auto n = static_cast<int>(whole("threads", threads, 1024));
  need(n >= 1, "threads must be at least 1");
  return n;
}

// What a Python object of class T holds. `T.__new__(T)` makes one that holds nothing; using that would read raw memory.
template <class T>
const T& held(const py::object& self) {
  if (!py::isinstance<T>(self)) throw py::type_error("self is of another class");
  auto* instance = reinterpret_cast<py::detail::instance*>(self.ptr());
  need(instance->get_value_and_holder().holder_constructed(), "the object was never initialised: call its class");
  return self.cast<const T&>();
}

}  // namespace c2s::bindings

template <>
struct pybind11::detail::handle_type_name<c2s::bindings::Int> {
  static constexpr auto name = const_name("int");
};
