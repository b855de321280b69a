// Which matrix kernels LibTorch's BLAS computes with.
//
// OpenBLAS takes a processor that is newer than itself for the oldest that it knows, and multiplies with the vector
// instructions of 2004: Debian 12's of 2022 does so on Intel's server processors of 2023 and later, where a training
// step of a two-layer Mamba then takes twice as long. It can be told what to take, by OPENBLAS_CORETYPE, but only
// before a program starts.
#pragma once

#include <optional>
#include <string>

namespace mambarium {

// What OpenBLAS calls the kernels it computes with ("Haswell"); empty where the BLAS is another one.
std::string blas_kernels();

// What it should be told to take: nothing where it has chosen well, or where the processor has nothing better.
// `chosen` as from blas_kernels(). With AVX-512 those for AVX2 as well: they were no slower where it was measured.
std::optional<std::string> better_blas_kernels(const std::string& chosen, bool has_avx2);

// To be called first in main(): starts the program anew, in the same process and with the same arguments, with
// OPENBLAS_CORETYPE set where that makes it faster. Returns where there is nothing to gain, where the variable is set
// already, and where a new start is not possible.
void start_with_good_blas_kernels(char** arguments);

}  // namespace mambarium
