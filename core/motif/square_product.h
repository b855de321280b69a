// Products of n x n matrices, row-major, in double. Zeros of the left factor cost nothing.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

namespace mambarium {

std::vector<double> square_product(std::span<const double> left, std::span<const double> right, std::size_t n);
std::vector<double> square_transpose(std::span<const double> matrix, std::size_t n);
double inner_product(std::span<const double> left, std::span<const double> right);  // of the same length

}  // namespace mambarium
