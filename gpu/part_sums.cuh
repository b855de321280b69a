// sum_parts: PartSums (gpu/stages/part_sums.h), a thread for each of the sums.
#pragma once

#include <vector>

#include "gpu/block_team.cuh"
#include "gpu/gpu_device.h"
#include "gpu/stages/part_sums.h"

namespace mambarium::gpu {

namespace {

__global__ void __launch_bounds__(threads_of_a_block) part_sums_kernel(const __grid_constant__ PartSums sums) {
  const std::int64_t i = static_cast<std::int64_t>(blockIdx.x) * threads_of_a_block + threadIdx.x;
  if (i < sums.count()) sums.sum(i);
}

void sum_parts(const std::vector<PartSums>& all, cudaStream_t stream) {
  for (const PartSums& sums : all) {
    const auto blocks = static_cast<unsigned>((sums.count() + threads_of_a_block - 1) / threads_of_a_block);
    part_sums_kernel<<<blocks, threads_of_a_block, 0, stream>>>(sums);
    check(cudaGetLastError(), "start the sums over parts");
  }
}

}  // namespace

}  // namespace mambarium::gpu
