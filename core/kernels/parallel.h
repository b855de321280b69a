// Splitting work over threads without the result depending on how many there are.
#pragma once

#include <cstdint>
#include <functional>

namespace mambarium::kernels {

// Calls work(begin, end) on disjoint ranges that cover 0 .. count-1, one range per thread, the last one on the calling
// thread; returns when all have. An exception from any of them is thrown again here. With one thread or one item no
// thread is started.
void parallel_ranges(std::int64_t count, int threads,
                     const std::function<void(std::int64_t begin, std::int64_t end)>& work);

}  // namespace mambarium::kernels
