// Products of rows with a matrix, and the gradient of that matrix.
#pragma once

#include "gpu/stages/panel.h"

namespace mambarium::gpu {

// Element (j, k) lies at data[j * row + k * column]: a matrix or, with the strides exchanged, its transpose.
struct Matrix {
  const float* data = nullptr;
  int row = 0, column = 1;
};

// out(t, j) = sum over k < depth of matrix(j, k) in(t, k), for j < width; plus residual(t, j) where that has data. out
// may be the residual, not in.
template <class Team>
MAMBARIUM_HOST_DEVICE void linear(const Team& team, int rows, int depth, int width, const Matrix& matrix, Numbers in,
                                  Numbers residual, NumbersOut out) {
  team.each(rows * width, [&](int i) {
    const int t = i / width, j = i % width;
    const float* weight = matrix.data + j * matrix.row;
    float sum = residual.data == nullptr ? 0.0f : residual.at(t, j);
    for (int k = 0; k < depth; ++k) sum += weight[k * matrix.column] * in.at(t, k);
    out.at(t, j) = sum;
  });
}

// sums[j * depth + k] += sum over t of dout(t, j) in(t, k).
template <class Team>
MAMBARIUM_HOST_DEVICE void linear_gradient(const Team& team, int rows, int depth, int width, Numbers in, Numbers dout,
                                           float* sums) {
  team.each(width * depth, [&](int i) {
    const int j = i / depth, k = i % depth;
    float sum = 0.0f;
    for (int t = 0; t < rows; ++t) sum += dout.at(t, j) * in.at(t, k);
    sums[i] += sum;
  });
}

}  // namespace mambarium::gpu
