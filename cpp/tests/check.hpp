// A test executable is a main() that calls CHECK and ends with `return c2s_test::result();`. No framework.
#pragma once

#include <cmath>
#include <cstdio>
#include <cstdlib>

namespace c2s_test {

inline int failures = 0;
inline long checks = 0;

inline void report(bool ok, const char* expression, const char* file, int line) {
  ++checks;
  if (ok) return;
  if (++failures <= 20) std::fprintf(stderr, "%s:%d: failed: %s\n", file, line, expression);
}

// A test that checked nothing has failed.
inline int result() {
  std::printf("%ld checks, %d failed\n", checks, failures);
  return failures == 0 && checks > 0 ? EXIT_SUCCESS : EXIT_FAILURE;
}

}  // namespace c2s_test

#define CHECK(expression) ::c2s_test::report(static_cast<bool>(expression), #expression, __FILE__, __LINE__)
#define CHECK_NEAR(a, b, tolerance) \
  ::c2s_test::report(std::fabs((a) - (b)) <= (tolerance), #a " near " #b, __FILE__, __LINE__)
