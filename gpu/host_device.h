// MAMBARIUM_HOST_DEVICE marks a function that runs on the CPU and on a GPU: nvcc compiles it for both, any other
// compiler sees nothing. What is marked so needs no CUDA header, and its arithmetic is tested where there is no GPU.
#pragma once

#if defined(__CUDACC__)
#define MAMBARIUM_HOST_DEVICE __host__ __device__
#else
#define MAMBARIUM_HOST_DEVICE
#endif
