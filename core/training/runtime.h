// What is set once per process before models are computed.
#pragma once

#include <cstdint>

#include "core/models/sequence_model.h"

namespace mambarium {

// CPU threads of LibTorch and of its BLAS, deterministic operators only, and an allocator that keeps the memory of a
// step for the next one (giving it back costs up to half the time of a training step). May be called again with another
// count.
void configure_runtime(std::int64_t threads);

// How many of run.threads are LibTorch's. The fused engine cuts its work itself, by rules that do not know how many
// threads there are, so that its results do not either.
inline std::int64_t torch_threads(Engine engine, std::int64_t threads) {
  return engine == Engine::fused ? 1 : threads;
}

}  // namespace mambarium
