// Splitting a range of draws over threads. What a draw gives depends on its number alone, so the split changes nothing.
#pragma once

#include <algorithm>
#include <cstddef>
#include <exception>
#include <thread>
#include <vector>

namespace c2s {

// Calls work(begin, end) on `threads` contiguous parts of [0, n); the calling thread takes the first one. The first exception
// is thrown again once all threads have ended.
template <class Work>
void parallel_ranges(std::size_t n, int threads, const Work& work) {
  const std::size_t parts = std::max<std::size_t>(1, std::min(n, static_cast<std::size_t>(std::max(1, threads))));
  if (parts == 1) {
    work(std::size_t{0}, n);
    return;
  }
  std::vector<std::exception_ptr> errors(parts);
  std::vector<std::thread> pool;
  const auto part = [&](std::size_t i) {
    try {
      work(n * i / parts, n * (i + 1) / parts);
    } catch (...) {
      errors[i] = std::current_exception();
    }
  };
  try {
    for (std::size_t i = 1; i < parts; ++i) pool.emplace_back(part, i);
  } catch (...) {  // no more threads to be had
    for (auto& thread : pool) thread.join();
    throw;
  }
  part(0);
  for (auto& thread : pool) thread.join();
  for (const auto& error : errors) {
    if (error) std::rethrow_exception(error);
  }
}

}  // namespace c2s
