// Function multiversioning for plain loops: the loader picks the widest version that the machine has.
//
// Floats come out the same at every width: the build forbids fused multiply-add, and a reduction in a cloned function must
// spell out its partial sums (see calibration.cpp). Sanitizers cannot run before the resolvers do, so they get one version.
#pragma once

#if defined(__has_feature)
#if __has_feature(address_sanitizer) || __has_feature(thread_sanitizer)
#define C2S_NO_CLONES 1
#endif
#endif

#if defined(__x86_64__) && defined(__GLIBC__) && defined(__GNUC__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__) && !defined(C2S_NO_CLONES)
#define C2S_WIDE __attribute__((target_clones("avx512f", "avx2", "default")))
#else
#define C2S_WIDE
#endif
