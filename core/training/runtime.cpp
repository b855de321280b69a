#include "core/training/runtime.h"

#include <dlfcn.h>
#include <torch/torch.h>

#ifdef __GLIBC__
#include <malloc.h>
#endif

namespace mambarium {

void configure_runtime(std::int64_t threads) {
  const int count = static_cast<int>(threads);
  at::set_num_threads(count);
  at::globalContext().setDeterministicAlgorithms(true, false);
  // OpenBLAS built on plain threads does not hear what LibTorch was told.
  if (void* const symbol = ::dlsym(RTLD_DEFAULT, "openblas_set_num_threads")) {
    reinterpret_cast<void (*)(int)>(symbol)(count);
  }
#ifdef __GLIBC__
  constexpr int keep_all = 1 << 30;
  ::mallopt(M_MMAP_MAX, 0);
  ::mallopt(M_TRIM_THRESHOLD, keep_all);
#endif
}

}  // namespace mambarium
