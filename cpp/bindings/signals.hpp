// Ctrl-C inside a kernel that runs without the GIL: a poll that looks for signals, at most every 20 ms.
#pragma once

#include <pybind11/pybind11.h>

#include <chrono>
#include <functional>

namespace c2s::bindings {

inline std::function<void()> signal_poll() {
  using Clock = std::chrono::steady_clock;
  return [last = Clock::now()]() mutable {
    const auto now = Clock::now();
    if (now - last < std::chrono::milliseconds(20)) return;
    last = now;
    pybind11::gil_scoped_acquire acquire;
    if (PyErr_CheckSignals() != 0) throw pybind11::error_already_set();
  };
}

}  // namespace c2s::bindings
