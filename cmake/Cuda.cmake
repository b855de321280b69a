# CUDA is used where a compiler for it is found and the tree has kernels for it; nothing asks for it otherwise.

if(EXISTS ${CMAKE_SOURCE_DIR}/gpu/CMakeLists.txt)
  find_program(MAMBARIUM_NVCC nvcc HINTS $ENV{CUDA_PATH}/bin /usr/local/cuda/bin)
  if(MAMBARIUM_NVCC)
    # enable_language compiles a test program, for an architecture that current compilers no longer know unless told others.
    if(NOT DEFINED CMAKE_CUDA_ARCHITECTURES)
      set(CMAKE_CUDA_ARCHITECTURES 80-real 86-real 89-real 90)
    endif()
    set(CMAKE_CUDA_COMPILER ${MAMBARIUM_NVCC})
    enable_language(CUDA)
    add_subdirectory(gpu)
  endif()
endif()
