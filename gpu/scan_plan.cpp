#include "gpu/scan_plan.h"

#include <algorithm>
#include <limits>
#include <stdexcept>
#include <string>

namespace mambarium::gpu {

namespace {

// Memory that a block of threads gets without asking for more: 48 KiB.
constexpr std::int64_t block_floats = 48 * 1024 / 4;

ScanJob plan(const kernels::ScanShape& shape) {
  constexpr std::int64_t states_of_a_block = 256, most = std::numeric_limits<int>::max();
  const std::int64_t numbers = std::max({shape.batch * shape.heads * shape.headdim, shape.length * shape.d_state});
  if (std::min({shape.batch, shape.length, shape.heads, shape.headdim, shape.d_state}) < 1 || numbers > most) {
    throw std::invalid_argument("a scan of " + std::to_string(shape.batch) + " sequences of " +
                                std::to_string(shape.length) + " tokens, " + std::to_string(shape.heads) +
                                " heads of " + std::to_string(shape.headdim) + " channels and " +
                                std::to_string(shape.d_state) + " states is empty or more than the GPU kernels count");
  }
  if (shape.groups != 1) {
    throw std::invalid_argument("a scan of " + std::to_string(shape.groups) +
                                " groups of heads, and the GPU kernels share B and C among all heads");
  }
  ScanJob job;
  job.batch = static_cast<int>(shape.batch);
  job.length = static_cast<int>(shape.length);
  job.heads = static_cast<int>(shape.heads);
  job.headdim = static_cast<int>(shape.headdim);
  job.d_state = static_cast<int>(shape.d_state);
  job.tile = static_cast<int>(std::clamp<std::int64_t>(states_of_a_block / shape.d_state, 1, shape.headdim));
  job.piece = job.length;
  const std::int64_t of_one = scan_scratch(job.tile, job.d_state, 1, true);
  const std::int64_t of_row = scan_scratch(job.tile, job.d_state, 2, true) - of_one;
  if (of_one > block_floats) {
    throw std::invalid_argument("d_state is " + std::to_string(shape.d_state) + ", and the GPU's scan holds at most " +
                                std::to_string((block_floats - 2) / 5));
  }
  job.piece = static_cast<int>(std::min<std::int64_t>(shape.length, 1 + (block_floats - of_one) / of_row));
  return job;
}

// The parts of what all blocks add to: dB and dC.
void plan_shared(const ScanJob& job, const BatchOut& dB, const BatchOut& dC, Carve& carve, ScanBackwardPlan& result) {
  const std::int64_t blocks = job.blocks(), of_part = static_cast<std::int64_t>(job.length) * job.d_state;
  result.job.starts = carve.floats(blocks * job.pieces() * job.tile * job.d_state);
  result.job.dB = carve.floats(blocks * of_part);
  result.job.dC = carve.floats(blocks * of_part);
  for (const auto& [from, out] : {std::pair(result.job.dB, dB), std::pair(result.job.dC, dC)}) {
    result.sums.push_back(
        {job.batch, job.length, job.d_state, job.parts(), from, job.parts() * of_part, job.d_state, 1, of_part, out});
  }
}

}  // namespace

ScanJob plan_scan(const kernels::ScanShape& shape, const kernels::ScanInputs<float>& inputs) {
  ScanJob job = plan(shape);
  job.x = inputs.x, job.dt = inputs.dt, job.a = inputs.a, job.B = inputs.B, job.C = inputs.C, job.h0 = inputs.h0;
  return job;
}

ScanJob plan_scan(const kernels::ScanShape& shape, const DiagonalScanInputs& inputs) {
  ScanJob job = plan(shape);
  if (shape.heads != 1) {
    throw std::invalid_argument("a scan with a decay for every state has one head, not " + std::to_string(shape.heads));
  }
  job.x = inputs.x, job.dt = inputs.dt, job.B = inputs.B, job.C = inputs.C, job.A = inputs.A, job.h0 = inputs.h0;
  return job;
}

ScanBackwardPlan plan_scan_backward(const ScanJob& job, BatchIn dy, const float* dh_final,
                                    const kernels::ScanGradients<float>& gradients, float* workspace) {
  ScanBackwardPlan result;
  result.job.dy = dy;
  result.job.dh_final = dh_final;
  result.job.dx = gradients.x;
  result.job.dh0 = gradients.h0;
  Carve carve(workspace);
  plan_shared(job, gradients.B, gradients.C, carve, result);
  const std::int64_t length = job.length, tiles = job.tiles();
  result.job.ddt_parts = carve.floats(job.blocks() * length);
  result.job.da_parts = carve.floats(job.blocks() * length);
  for (const auto& [from, out] :
       {std::pair(result.job.ddt_parts, gradients.dt), std::pair(result.job.da_parts, gradients.a)}) {
    result.sums.push_back(
        {job.batch, job.length, job.heads, job.tiles(), from, job.parts() * length, 1, tiles * length, length, out});
  }
  result.workspace = carve.used();
  return result;
}

ScanBackwardPlan plan_scan_backward(const ScanJob& job, BatchIn dy, const float* dh_final,
                                    const DiagonalScanGradients& gradients, float* workspace) {
  ScanBackwardPlan result;
  result.job.dy = dy;
  result.job.dh_final = dh_final;
  result.job.dx = gradients.x;
  result.job.ddt = gradients.dt;
  result.job.dh0 = gradients.h0;
  Carve carve(workspace);
  plan_shared(job, gradients.B, gradients.C, carve, result);
  const std::int64_t states = static_cast<std::int64_t>(job.headdim) * job.d_state;
  result.job.dA = carve.floats(job.batch * states);
  result.sums.push_back({1,
                         job.headdim,
                         job.d_state,
                         job.batch,
                         result.job.dA,
                         0,
                         job.d_state,
                         1,
                         states,
                         {gradients.A, 0, job.d_state}});
  result.workspace = carve.used();
  return result;
}

}  // namespace mambarium::gpu
