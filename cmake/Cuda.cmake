# CUDA is used where a compiler for it is found; nothing asks for it otherwise. What it compiles is in gpu/.

option(MAMBARIUM_CUDA "Build the kernels for NVIDIA GPUs where nvcc is found" ON)
if(MAMBARIUM_BUILD_WORKER AND MAMBARIUM_CUDA)
  find_program(MAMBARIUM_NVCC nvcc HINTS $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)
  if(MAMBARIUM_NVCC)
    # enable_language compiles a test program, for an architecture that current compilers no longer know unless told
    # others. Code for 8.0 runs on every 8.x; from 9.0 on the driver translates what it has no code for.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 90)
    endif()
    set(CMAKE_CUDA_COMPILER ${MAMBARIUM_NVCC})
    enable_language(CUDA)
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
  endif()
endif()
