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
    # nvcc has had C++20 since version 12; CMake 3.25 does not know.
    if(NOT DEFINED CMAKE_CUDA20_STANDARD_COMPILE_OPTION)
      set(CMAKE_CUDA20_STANDARD_COMPILE_OPTION -std=c++20)
      set(CMAKE_CUDA20_EXTENSION_COMPILE_OPTION -std=c++20)
    endif()
    set(CMAKE_CUDA_STANDARD 20)
    set(CMAKE_CUDA_STANDARD_REQUIRED ON)
    set(CMAKE_CUDA_EXTENSIONS OFF)
    set(CMAKE_CUDA_COMPILER_LAUNCHER ${CMAKE_CXX_COMPILER_LAUNCHER})
  endif()
endif()
