// What is set once per process before models are computed.
#pragma once

#include <cstdint>

namespace mambarium {

// CPU threads of LibTorch and of its BLAS, deterministic operators only, and an allocator that keeps the memory of a
// step for the next one (giving it back costs up to half the time of a training step). May be called again with another
// count.
void configure_runtime(std::int64_t threads);

}  // namespace mambarium
