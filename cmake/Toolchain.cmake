# Language standard, warnings, ccache and sanitizers: what every target of this tree is compiled with.

set(CMAKE_CXX_STANDARD 20)
set(CMAKE_CXX_STANDARD_REQUIRED ON)
set(CMAKE_CXX_EXTENSIONS OFF)
set(CMAKE_POSITION_INDEPENDENT_CODE ON)
set(CMAKE_EXPORT_COMPILE_COMMANDS ON)
set(CMAKE_RUNTIME_OUTPUT_DIRECTORY ${CMAKE_BINARY_DIR}/bin)

if(NOT CMAKE_BUILD_TYPE AND NOT CMAKE_CONFIGURATION_TYPES)
  set(CMAKE_BUILD_TYPE Release CACHE STRING "Build type" FORCE)
endif()

find_program(CCACHE_PROGRAM ccache)
if(CCACHE_PROGRAM)
  # A precompiled header carries time stamps that ccache must be told not to mind.
  set(CMAKE_CXX_COMPILER_LAUNCHER
      ${CMAKE_COMMAND} -E env CCACHE_SLOPPINESS=pch_defines,time_macros,include_file_mtime,include_file_ctime
      ${CCACHE_PROGRAM})
endif()

add_library(mambarium_warnings INTERFACE)
target_compile_options(mambarium_warnings INTERFACE -Wall -Wextra -Wshadow -Wconversion)

set(MAMBARIUM_SANITIZE "" CACHE STRING "Sanitizers to build with, e.g. address,undefined or thread")
if(MAMBARIUM_SANITIZE)
  add_compile_options(-fsanitize=${MAMBARIUM_SANITIZE} -fno-omit-frame-pointer)
  add_link_options(-fsanitize=${MAMBARIUM_SANITIZE})
endif()
