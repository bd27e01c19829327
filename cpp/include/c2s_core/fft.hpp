// Discrete Fourier transforms of many columns at once, for lengths 2^a 3^b 5^c.
#pragma once

#include <cstddef>
#include <vector>

#include "c2s_core/poll.hpp"

namespace c2s {

// The smallest length of the form 2^a 3^b 5^c that is at least n >= 1.
std::size_t fft_length(std::size_t n) noexcept;

// Real and imaginary parts apart, so that the inner loops run over plain arrays of doubles.
struct Planes {
  std::vector<double> re;
  std::vector<double> im;
  void resize(std::size_t size) {
    re.resize(size);
    im.resize(size);
  }
};

// data holds `length` rows of `columns` values; every column is replaced by sum_j data[j] exp(-2 pi i j k / length).
// `scratch` is resized as needed. length must be a value of fft_length.
void fft_columns(Planes& data, Planes& scratch, std::size_t length, std::size_t columns, const Poll& poll = {});

}  // namespace c2s
