// How a long loop lets itself be stopped: it counts its work, and now and then calls a function that may throw.
#pragma once

#include <cstddef>
#include <functional>

namespace c2s {

// Called every few milliseconds by a long loop; may throw to end it. It may be empty.
using Poll = std::function<void()>;

// Counts elementary steps (a few nanoseconds each) and calls the poll once per kSteps of them. One per thread.
class Ticker {
 public:
  Ticker() = default;
  explicit Ticker(const Poll& poll) noexcept : poll_(&poll) {}

  void operator()(std::size_t steps = 1) {
    done_ += steps;
    if (done_ < kSteps) return;
    done_ = 0;
    if (poll_ != nullptr && *poll_) (*poll_)();
  }

 private:
  static constexpr std::size_t kSteps = std::size_t{1} << 20;

  const Poll* poll_ = nullptr;
  std::size_t done_ = 0;
};

}  // namespace c2s
