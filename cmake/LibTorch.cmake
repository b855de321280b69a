# mambarium_torch: any LibTorch from 1.13 on (Torch_DIR names another than the system's).

find_package(Torch REQUIRED)
if(Torch_VERSION AND Torch_VERSION VERSION_LESS 1.13)
  message(FATAL_ERROR "LibTorch ${Torch_VERSION} at ${Torch_DIR} is too old: 1.13 or newer is needed.")
endif()
add_library(mambarium_torch INTERFACE)
target_link_libraries(mambarium_torch INTERFACE ${TORCH_LIBRARIES})
# LibTorch's headers are other people's: no warnings from inside them.
target_include_directories(mambarium_torch SYSTEM INTERFACE ${TORCH_INCLUDE_DIRS})
separate_arguments(mambarium_torch_flags UNIX_COMMAND "${TORCH_CXX_FLAGS}")
target_compile_options(mambarium_torch INTERFACE ${mambarium_torch_flags})
