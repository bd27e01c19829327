#include "c2s_core/fft.hpp"

#include <algorithm>
#include <cmath>

#include "c2s_core/simd.hpp"

namespace c2s {
namespace {

constexpr double kTwoPi = 6.283185307179586476925286766559;

constexpr std::size_t kPiece = std::size_t{1} << 18;  // values of one call of a butterfly at most

struct Complex {
  double re;
  double im;
};

Complex unit(std::size_t j, std::size_t n) noexcept {
  const double angle = -kTwoPi * static_cast<double>(j % n) / static_cast<double>(n);
  return {std::cos(angle), std::sin(angle)};
}

// One butterfly of Stockham's autosort: R blocks of `count` values are combined and block k is turned by twiddle[k].
// Within a butterfly the twiddles are the same for all values, so that the loops vectorise.
struct Block {
  const double* in_re;
  const double* in_im;
  std::size_t in_step;  // from one input block to the next
  double* out_re;
  double* out_im;
  std::size_t out_step;
  std::size_t count;
  const Complex* twiddle;  // [R], the first is 1
};

C2S_WIDE void butterfly2(const Block& b) {
  const double *a0 = b.in_re, *a1 = a0 + b.in_step, *b0 = b.in_im, *b1 = b0 + b.in_step;
  double *__restrict x0 = b.out_re, *__restrict x1 = b.out_re + b.out_step;
  double *__restrict y0 = b.out_im, *__restrict y1 = b.out_im + b.out_step;
  const Complex w = b.twiddle[1];
  for (std::size_t i = 0; i < b.count; ++i) {
    const double re = a0[i] - a1[i], im = b0[i] - b1[i];
    x0[i] = a0[i] + a1[i];
    y0[i] = b0[i] + b1[i];
    x1[i] = re * w.re - im * w.im;
    y1[i] = re * w.im + im * w.re;
  }
}

C2S_WIDE void butterfly3(const Block& b) {
  const double *a0 = b.in_re, *a1 = a0 + b.in_step, *a2 = a1 + b.in_step;
  const double *b0 = b.in_im, *b1 = b0 + b.in_step, *b2 = b1 + b.in_step;
  double *__restrict x0 = b.out_re, *__restrict x1 = x0 + b.out_step, *__restrict x2 = x1 + b.out_step;
  double *__restrict y0 = b.out_im, *__restrict y1 = y0 + b.out_step, *__restrict y2 = y1 + b.out_step;
  const Complex w1 = b.twiddle[1], w2 = b.twiddle[2];
  constexpr double s = 0.86602540378443864676;
  for (std::size_t i = 0; i < b.count; ++i) {
    const double sr = a1[i] + a2[i], si = b1[i] + b2[i];
    const double mr = a0[i] - 0.5 * sr, mi = b0[i] - 0.5 * si;
    const double dr = s * (a1[i] - a2[i]), di = s * (b1[i] - b2[i]);
    x0[i] = a0[i] + sr;
    y0[i] = b0[i] + si;
    const double pr = mr + di, pi = mi - dr, qr = mr - di, qi = mi + dr;
    x1[i] = pr * w1.re - pi * w1.im;
    y1[i] = pr * w1.im + pi * w1.re;
    x2[i] = qr * w2.re - qi * w2.im;
    y2[i] = qr * w2.im + qi * w2.re;
  }
}

C2S_WIDE void butterfly4(const Block& b) {
  const double *a0 = b.in_re, *a1 = a0 + b.in_step, *a2 = a1 + b.in_step, *a3 = a2 + b.in_step;
  const double *b0 = b.in_im, *b1 = b0 + b.in_step, *b2 = b1 + b.in_step, *b3 = b2 + b.in_step;
  double *__restrict x0 = b.out_re, *__restrict x1 = x0 + b.out_step, *__restrict x2 = x1 + b.out_step,
                     *__restrict x3 = x2 + b.out_step;
  double *__restrict y0 = b.out_im, *__restrict y1 = y0 + b.out_step, *__restrict y2 = y1 + b.out_step,
                     *__restrict y3 = y2 + b.out_step;
  const Complex w1 = b.twiddle[1], w2 = b.twiddle[2], w3 = b.twiddle[3];
  for (std::size_t i = 0; i < b.count; ++i) {
    const double sr = a0[i] + a2[i], si = b0[i] + b2[i], dr = a0[i] - a2[i], di = b0[i] - b2[i];
    const double tr = a1[i] + a3[i], ti = b1[i] + b3[i], er = a1[i] - a3[i], ei = b1[i] - b3[i];
    x0[i] = sr + tr;
    y0[i] = si + ti;
    const double p1r = dr + ei, p1i = di - er, p2r = sr - tr, p2i = si - ti, p3r = dr - ei, p3i = di + er;
    x1[i] = p1r * w1.re - p1i * w1.im;
    y1[i] = p1r * w1.im + p1i * w1.re;
    x2[i] = p2r * w2.re - p2i * w2.im;
    y2[i] = p2r * w2.im + p2i * w2.re;
    x3[i] = p3r * w3.re - p3i * w3.im;
    y3[i] = p3r * w3.im + p3i * w3.re;
  }
}

C2S_WIDE void butterfly5(const Block& b) {
  constexpr double c1 = 0.30901699437494742410, c2 = -0.80901699437494742410;
  constexpr double s1 = 0.95105651629515357212, s2 = 0.58778525229247312917;
  double *__restrict x = b.out_re, *__restrict y = b.out_im;
  const std::size_t in = b.in_step, out = b.out_step;
  const Complex w1 = b.twiddle[1], w2 = b.twiddle[2], w3 = b.twiddle[3], w4 = b.twiddle[4];
  for (std::size_t i = 0; i < b.count; ++i) {
    const double *r = b.in_re + i, *m = b.in_im + i;
    const double s14r = r[in] + r[4 * in], s14i = m[in] + m[4 * in], s23r = r[2 * in] + r[3 * in],
                 s23i = m[2 * in] + m[3 * in];
    const double d14r = r[in] - r[4 * in], d14i = m[in] - m[4 * in], d23r = r[2 * in] - r[3 * in],
                 d23i = m[2 * in] - m[3 * in];
    const double u1r = r[0] + c1 * s14r + c2 * s23r, u1i = m[0] + c1 * s14i + c2 * s23i;
    const double u2r = r[0] + c2 * s14r + c1 * s23r, u2i = m[0] + c2 * s14i + c1 * s23i;
    const double v1r = s1 * d14r + s2 * d23r, v1i = s1 * d14i + s2 * d23i;
    const double v2r = s2 * d14r - s1 * d23r, v2i = s2 * d14i - s1 * d23i;
    x[i] = r[0] + s14r + s23r;
    y[i] = m[0] + s14i + s23i;
    const double p1r = u1r + v1i, p1i = u1i - v1r, p4r = u1r - v1i, p4i = u1i + v1r;
    const double p2r = u2r + v2i, p2i = u2i - v2r, p3r = u2r - v2i, p3i = u2i + v2r;
    x[i + out] = p1r * w1.re - p1i * w1.im;
    y[i + out] = p1r * w1.im + p1i * w1.re;
    x[i + 2 * out] = p2r * w2.re - p2i * w2.im;
    y[i + 2 * out] = p2r * w2.im + p2i * w2.re;
    x[i + 3 * out] = p3r * w3.re - p3i * w3.im;
    y[i + 3 * out] = p3r * w3.im + p3i * w3.re;
    x[i + 4 * out] = p4r * w4.re - p4i * w4.im;
    y[i + 4 * out] = p4r * w4.im + p4i * w4.re;
  }
}

std::size_t next_radix(std::size_t n) noexcept {
  if (n % 4 == 0) return 4;
  if (n % 2 == 0) return 2;
  return n % 3 == 0 ? 3 : 5;
}

}  // namespace

std::size_t fft_length(std::size_t n) noexcept {
  std::size_t best = 1;
  while (best < n) best *= 2;
  for (std::size_t five = 1; five < best; five *= 5) {
    for (std::size_t three = five; three < best; three *= 3) {
      std::size_t m = three;
      while (m < n) m *= 2;
      if (m < best) best = m;
    }
  }
  return best;
}

void fft_columns(Planes& data, Planes& scratch, std::size_t length, std::size_t columns, const Poll& poll) {
  Ticker tick(poll);
  scratch.resize(length * columns);
  std::size_t n = length, stride = columns;  // `stride` values share a twiddle
  while (n > 1) {
    const std::size_t radix = next_radix(n), m = n / radix;
    for (std::size_t p = 0; p < m; ++p) {
      Complex twiddle[5];
      for (std::size_t k = 0; k < radix; ++k) twiddle[k] = unit(p * k, n);
      for (std::size_t at = 0; at < stride; at += kPiece) {
        const std::size_t in = p * stride + at, out = p * radix * stride + at, count = std::min(kPiece, stride - at);
        const Block block{data.re.data() + in,     data.im.data() + in, m * stride, scratch.re.data() + out,
                          scratch.im.data() + out, stride,              count,      twiddle};
        if (radix == 4) butterfly4(block);
        else if (radix == 2) butterfly2(block);
        else if (radix == 3) butterfly3(block);
        else butterfly5(block);
        tick(radix * count);
      }
    }
    data.re.swap(scratch.re);
    data.im.swap(scratch.im);
    n = m;
    stride *= radix;
  }
}

}  // namespace c2s
