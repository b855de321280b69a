// A Markov kernel as a JSON file: S^k rows of S probabilities, the oldest symbol of the context most significant.
//   [[0.9, 0.1], [0.2, 0.8]]      order 1 over two states
#pragma once

#include <cstdint>
#include <filesystem>
#include <vector>

namespace mambarium {

struct MarkovKernel {
  std::int64_t order = 1, states = 2;
  std::vector<float> rows;  // [S^k, S]
};

// Throws CommandError (bad input) with one sentence when the file is not that.
MarkovKernel read_kernel_file(const std::filesystem::path& path);

}  // namespace mambarium
