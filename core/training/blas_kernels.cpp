#include "core/training/blas_kernels.h"

#include <dlfcn.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string_view>

namespace mambarium {

namespace {

constexpr const char* variable = "OPENBLAS_CORETYPE";

#if defined(__x86_64__)
bool has_avx2() {
  return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
}
#else
bool has_avx2() {
  return false;
}
#endif

}  // namespace

std::string blas_kernels() {
  void* const symbol = ::dlsym(RTLD_DEFAULT, "openblas_get_corename");
  return symbol != nullptr ? reinterpret_cast<char* (*)()>(symbol)() : "";
}

std::optional<std::string> better_blas_kernels(const std::string& chosen, bool avx2) {
  constexpr std::array<std::string_view, 7> before_avx = {"Prescott", "Core2",   "Penryn", "Dunnington",
                                                          "Nehalem",  "Generic", "Katmai"};
  if (std::ranges::count(before_avx, chosen) == 0) return std::nullopt;
  if (avx2) return "Haswell";
  return std::nullopt;
}

void start_with_good_blas_kernels(char** arguments) {
  if (std::getenv(variable) != nullptr) return;
  const auto better = better_blas_kernels(blas_kernels(), has_avx2());
  if (!better || ::setenv(variable, better->c_str(), 1) != 0) return;
  ::execv("/proc/self/exe", arguments);
}

}  // namespace mambarium
