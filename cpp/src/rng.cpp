#include "c2s_core/rng.hpp"

#include <atomic>
#include <cstring>

#if defined(__x86_64__) && defined(__GNUC__)
#define C2S_X86 1
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmaybe-uninitialized"  // GCC 12 warns about its own header (bug 105593)
#pragma GCC diagnostic ignored "-Wuninitialized"
#include <immintrin.h>
#pragma GCC diagnostic pop
#endif

namespace c2s {
namespace {

constexpr std::uint32_t kMul0 = 0xD2511F53u, kMul1 = 0xCD9E8D57u, kWeyl0 = 0x9E3779B9u, kWeyl1 = 0xBB67AE85u;
constexpr int kRounds = 10;

// What a run of blocks has in common. Either the block number or the draw counts up.
struct Run {
  std::uint64_t seed;
  std::uint32_t stream;
  std::uint64_t draw;
  std::uint32_t block;
  bool over_draws;
};

void scalar(const Run& run, std::size_t count, std::uint32_t* out) noexcept {
  const PhiloxKey key{static_cast<std::uint32_t>(run.seed), static_cast<std::uint32_t>(run.seed >> 32)};
  for (std::size_t i = 0; i < count; ++i) {
    const std::uint64_t draw = run.draw + (run.over_draws ? i : 0);
    const std::uint32_t block = run.block + (run.over_draws ? 0 : static_cast<std::uint32_t>(i));
    const auto words = philox4x32_10({block, run.stream, static_cast<std::uint32_t>(draw),
                                      static_cast<std::uint32_t>(draw >> 32)},
                                     key);
    std::memcpy(out + 4 * i, words.data(), sizeof words);
  }
}

#if C2S_X86

// Four independent groups hide the latency of the multiplications. Each 64-bit lane carries one 32-bit word in its low half;
// what the high half holds does not matter, because the multiplication reads the low halves only.
constexpr int kGroups = 4;

__attribute__((target("avx2"))) void avx2(const Run& run, std::size_t count, std::uint32_t* out) noexcept {
  const __m256i m0 = _mm256_set1_epi64x(kMul0), m1 = _mm256_set1_epi64x(kMul1), low = _mm256_set1_epi64x(0xffffffff);
  const __m256i steps = _mm256_set_epi64x(3, 2, 1, 0);
  for (std::size_t i = 0; i < count; i += 4 * kGroups) {
    __m256i a[kGroups], b[kGroups], c[kGroups], d[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      const __m256i up = _mm256_add_epi64(steps, _mm256_set1_epi64x(static_cast<long long>(i) + 4 * g));
      const __m256i draw = _mm256_set1_epi64x(static_cast<long long>(run.draw));
      const __m256i at = run.over_draws ? _mm256_add_epi64(draw, up) : draw;
      a[g] = _mm256_set1_epi64x(run.block);
      if (!run.over_draws) a[g] = _mm256_add_epi64(a[g], up);
      b[g] = _mm256_set1_epi64x(run.stream);
      c[g] = at;
      d[g] = _mm256_srli_epi64(at, 32);
    }
    std::uint32_t k0 = static_cast<std::uint32_t>(run.seed), k1 = static_cast<std::uint32_t>(run.seed >> 32);
    for (int r = 0; r < kRounds; ++r, k0 += kWeyl0, k1 += kWeyl1) {
      const __m256i key0 = _mm256_set1_epi64x(k0), key1 = _mm256_set1_epi64x(k1);
      for (int g = 0; g < kGroups; ++g) {
        const __m256i p0 = _mm256_mul_epu32(a[g], m0), p1 = _mm256_mul_epu32(c[g], m1);
        a[g] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p1, 32), b[g]), key0);
        c[g] = _mm256_xor_si256(_mm256_xor_si256(_mm256_srli_epi64(p0, 32), d[g]), key1);
        b[g] = p1;
        d[g] = p0;
      }
    }
    for (int g = 0; g < kGroups; ++g) {  // back to four words in a row per block
      const __m256i ab = _mm256_or_si256(_mm256_and_si256(a[g], low), _mm256_slli_epi64(b[g], 32));
      const __m256i cd = _mm256_or_si256(_mm256_and_si256(c[g], low), _mm256_slli_epi64(d[g], 32));
      const __m256i even = _mm256_unpacklo_epi64(ab, cd), odd = _mm256_unpackhi_epi64(ab, cd);
      auto* to = reinterpret_cast<__m256i*>(out + 4 * (i + 4 * static_cast<std::size_t>(g)));
      _mm256_storeu_si256(to, _mm256_permute2x128_si256(even, odd, 0x20));
      _mm256_storeu_si256(to + 1, _mm256_permute2x128_si256(even, odd, 0x31));
    }
  }
}

__attribute__((target("avx512f"))) void avx512(const Run& run, std::size_t count, std::uint32_t* out) noexcept {
  const __m512i m0 = _mm512_set1_epi64(kMul0), m1 = _mm512_set1_epi64(kMul1), low = _mm512_set1_epi64(0xffffffff);
  const __m512i steps = _mm512_set_epi64(7, 6, 5, 4, 3, 2, 1, 0);
  const __m512i first = _mm512_set_epi64(11, 3, 10, 2, 9, 1, 8, 0), second = _mm512_set_epi64(15, 7, 14, 6, 13, 5, 12, 4);
  for (std::size_t i = 0; i < count; i += 8 * kGroups) {
    __m512i a[kGroups], b[kGroups], c[kGroups], d[kGroups];
    for (int g = 0; g < kGroups; ++g) {
      const __m512i up = _mm512_add_epi64(steps, _mm512_set1_epi64(static_cast<long long>(i) + 8 * g));
      const __m512i draw = _mm512_set1_epi64(static_cast<long long>(run.draw));
      const __m512i at = run.over_draws ? _mm512_add_epi64(draw, up) : draw;
      a[g] = _mm512_set1_epi64(run.block);
      if (!run.over_draws) a[g] = _mm512_add_epi64(a[g], up);
      b[g] = _mm512_set1_epi64(run.stream);
      c[g] = at;
      d[g] = _mm512_srli_epi64(at, 32);
    }
    std::uint32_t k0 = static_cast<std::uint32_t>(run.seed), k1 = static_cast<std::uint32_t>(run.seed >> 32);
    for (int r = 0; r < kRounds; ++r, k0 += kWeyl0, k1 += kWeyl1) {
      const __m512i key0 = _mm512_set1_epi64(k0), key1 = _mm512_set1_epi64(k1);
      for (int g = 0; g < kGroups; ++g) {
        const __m512i p0 = _mm512_mul_epu32(a[g], m0), p1 = _mm512_mul_epu32(c[g], m1);
        a[g] = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p1, 32), b[g]), key0);
        c[g] = _mm512_xor_si512(_mm512_xor_si512(_mm512_srli_epi64(p0, 32), d[g]), key1);
        b[g] = p1;
        d[g] = p0;
      }
    }
    for (int g = 0; g < kGroups; ++g) {
      const __m512i ab = _mm512_or_si512(_mm512_and_si512(a[g], low), _mm512_slli_epi64(b[g], 32));
      const __m512i cd = _mm512_or_si512(_mm512_and_si512(c[g], low), _mm512_slli_epi64(d[g], 32));
      std::uint32_t* to = out + 4 * (i + 8 * static_cast<std::size_t>(g));
      _mm512_storeu_si512(to, _mm512_permutex2var_epi64(ab, first, cd));
      _mm512_storeu_si512(to + 16, _mm512_permutex2var_epi64(ab, second, cd));
    }
  }
}

#endif

struct Level {
  const char* name;
  void (*fill)(const Run&, std::size_t, std::uint32_t*) noexcept;
  bool (*present)() noexcept;
};

constexpr Level kLevels[] = {
#if C2S_X86
    {"avx512", avx512, []() noexcept { return __builtin_cpu_supports("avx512f") != 0; }},
    {"avx2", avx2, []() noexcept { return __builtin_cpu_supports("avx2") != 0; }},
#endif
    {"scalar", scalar, []() noexcept { return true; }},
};

const Level* best() noexcept {
  for (const Level& level : kLevels) {
    if (level.present()) return &level;
  }
  return nullptr;  // not reached: the scalar level is always there
}

std::atomic<const Level*>& chosen() noexcept {
  static std::atomic<const Level*> level{best()};
  return level;
}

}  // namespace

PhiloxCounter philox4x32_10(PhiloxCounter c, PhiloxKey key) noexcept {
  for (int r = 0; r < kRounds; ++r) {
    const std::uint64_t p0 = static_cast<std::uint64_t>(kMul0) * c[0], p1 = static_cast<std::uint64_t>(kMul1) * c[2];
    c = {static_cast<std::uint32_t>(p1 >> 32) ^ c[1] ^ key[0], static_cast<std::uint32_t>(p1),
         static_cast<std::uint32_t>(p0 >> 32) ^ c[3] ^ key[1], static_cast<std::uint32_t>(p0)};
    key = {key[0] + kWeyl0, key[1] + kWeyl1};
  }
  return c;
}

void philox_blocks(std::uint64_t seed, Stream stream, std::uint64_t draw, std::uint32_t first_block, std::size_t blocks,
                   std::uint32_t* out) noexcept {
  chosen().load(std::memory_order_relaxed)->fill({seed, static_cast<std::uint32_t>(stream), draw, first_block, false}, blocks, out);
}

void philox_draws(std::uint64_t seed, Stream stream, std::uint64_t first_draw, std::uint32_t block, std::size_t draws,
                  std::uint32_t* out) noexcept {
  chosen().load(std::memory_order_relaxed)->fill({seed, static_cast<std::uint32_t>(stream), first_draw, block, true}, draws, out);
}

const char* philox_level() noexcept { return chosen().load(std::memory_order_relaxed)->name; }

bool philox_force(const char* name) noexcept {
  for (const Level& level : kLevels) {
    if (std::strcmp(level.name, name) == 0 && level.present()) {
      chosen().store(&level, std::memory_order_relaxed);
      return true;
    }
  }
  return false;
}

}  // namespace c2s
