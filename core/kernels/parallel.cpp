#include "core/kernels/parallel.h"

#include <algorithm>
#include <exception>
#include <thread>
#include <vector>

namespace mambarium::kernels {

void parallel_ranges(std::int64_t count, int threads,
                     const std::function<void(std::int64_t begin, std::int64_t end)>& work) {
  const std::int64_t parts = std::clamp<std::int64_t>(threads, 1, std::max<std::int64_t>(count, 1));
  if (parts == 1) {
    work(0, count);
    return;
  }
  std::vector<std::exception_ptr> errors(static_cast<std::size_t>(parts));
  const auto part = [&](std::int64_t index) {
    try {
      work(count * index / parts, count * (index + 1) / parts);
    } catch (...) {
      errors[static_cast<std::size_t>(index)] = std::current_exception();
    }
  };
  {
    std::vector<std::jthread> started;
    for (std::int64_t index = 0; index + 1 < parts; ++index) {
      started.emplace_back(part, index);
    }
    part(parts - 1);
  }
  for (const auto& error : errors) {
    if (error) {
      std::rethrow_exception(error);
    }
  }
}

}  // namespace mambarium::kernels
