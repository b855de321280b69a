// FlushDenormals: while one lives, its thread computes with denormals as zero. Decaying states reach them within a few
// hundred tokens, and some processors take a hundred times longer for each operation there.
#pragma once

#include <cstdint>

#if defined(__SSE2__)
#include <immintrin.h>
#endif

namespace mambarium::kernels {

class FlushDenormals {
 public:
#if defined(__SSE2__)
  FlushDenormals() : saved_(_mm_getcsr()) {
    _mm_setcsr(saved_ | 0x8040u);
  }  // FTZ | DAZ
  ~FlushDenormals() {
    _mm_setcsr(saved_);
  }
#elif defined(__aarch64__)
  FlushDenormals() {
    asm volatile("mrs %0, fpcr" : "=r"(saved_));
    asm volatile("msr fpcr, %0" ::"r"(saved_ | (std::uint64_t{1} << 24)));
  }
  ~FlushDenormals() {
    asm volatile("msr fpcr, %0" ::"r"(saved_));
  }
#else
  FlushDenormals() = default;
  ~FlushDenormals() {}
#endif
  FlushDenormals(const FlushDenormals&) = delete;
  FlushDenormals& operator=(const FlushDenormals&) = delete;

 private:
#if defined(__SSE2__)
  unsigned saved_;
#elif defined(__aarch64__)
  std::uint64_t saved_ = 0;
#endif
};

}  // namespace mambarium::kernels
