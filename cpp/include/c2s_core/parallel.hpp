// Splitting a range of draws over threads. What a draw gives depends on its number alone, so the split changes nothing.
#pragma once

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

#include "c2s_core/poll.hpp"

namespace c2s {

// Calls work(begin, end, tick) on `threads` contiguous parts of [0, n); the calling thread takes the first one and alone calls
// `poll`. When the poll or a part throws, the other parts stop at their next tick, and the first exception is thrown again once
// all threads have ended.
template <class Work>
void parallel_ranges(std::size_t n, int threads, const Poll& poll, const Work& work) {
  const std::size_t parts = std::max<std::size_t>(1, std::min(n, static_cast<std::size_t>(std::max(1, threads))));
  if (parts == 1) {
    Ticker tick(poll);
    work(std::size_t{0}, n, tick);
    return;
  }
  struct Stopped {};
  std::atomic<bool> stop{false};
  std::exception_ptr first_error;
  std::mutex mutex;  // guards first_error and running
  std::condition_variable ended;
  std::size_t running = 0;

  const auto guarded = [&](const auto& act) {
    try {
      act();
    } catch (const Stopped&) {
    } catch (...) {
      const std::lock_guard lock(mutex);
      if (!first_error) first_error = std::current_exception();
      stop = true;
    }
  };
  const Poll watch = [&] {
    if (stop.load(std::memory_order_relaxed)) throw Stopped{};
  };
  const Poll watch_and_poll = [&] {
    watch();
    if (poll) poll();
  };
  const auto part = [&](std::size_t i) {
    guarded([&] {
      Ticker tick(i == 0 ? watch_and_poll : watch);
      work(n * i / parts, n * (i + 1) / parts, tick);
    });
  };

  std::vector<std::thread> pool;
  guarded([&] {
    for (std::size_t i = 1; i < parts; ++i) {
      {
        const std::lock_guard lock(mutex);
        ++running;
      }
      try {
        pool.emplace_back([&, i] {
          part(i);
          const std::lock_guard lock(mutex);
          if (--running == 0) ended.notify_one();
        });
      } catch (...) {  // no more threads to be had
        const std::lock_guard lock(mutex);
        --running;
        throw;
      }
    }
    part(0);
    // The others may take longer than the first part did: go on looking for a reason to stop.
    std::unique_lock lock(mutex);
    while (running > 0) {
      ended.wait_until(lock, std::chrono::system_clock::now() + std::chrono::milliseconds(10));
      if (running == 0 || stop || !poll) continue;
      lock.unlock();
      poll();
      lock.lock();
    }
  });
  for (auto& thread : pool) thread.join();
  if (first_error) std::rethrow_exception(first_error);
}

}  // namespace c2s
