// BlockTeam: the threads of a block as a team (gpu/stages/team.h).
#pragma once

#include "gpu/host_device.h"

namespace mambarium::gpu {

inline constexpr int threads_of_a_block = 256;

class BlockTeam {
 public:
  // Marked for both sides because the stages are; only a GPU ever calls it.
  template <class Work>
  MAMBARIUM_HOST_DEVICE void each(int count, const Work& work) const {
#if defined(__CUDA_ARCH__)
    for (int i = static_cast<int>(threadIdx.x); i < count; i += threads_of_a_block) work(i);
    __syncthreads();
#else
    (void)count, (void)work;
#endif
  }
};

}  // namespace mambarium::gpu
