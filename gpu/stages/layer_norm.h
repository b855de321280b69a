// Layer norm without a bias: out = gain (in - mean) / sqrt(variance + 1e-5), over the width of each row. The same
// numbers as core/kernels/layer_norm.h.
#pragma once

#include <cmath>

#include "gpu/stages/panel.h"

namespace mambarium::gpu {

// What the backward pass wants: what stands before the gain, the inverse deviation of every row, and room for two sums
// per row.
struct NormRows {
  NumbersOut standard;  // [rows, width]
  NumbersOut of_row;    // [rows, 2]: mean and inverse deviation; later the two sums
  NumbersOut scale;     // [rows, 1]

  MAMBARIUM_HOST_DEVICE NormRows(Carve& carve, int rows, int width)
      : standard(carve.rows(rows, width)), of_row(carve.rows(rows, 2)), scale(carve.rows(rows, 1)) {}
};

// out may be in.
template <class Team>
MAMBARIUM_HOST_DEVICE void layer_norm(const Team& team, int rows, int width, const float* gain, Numbers in,
                                      const NormRows& kept, NumbersOut out) {
  const float share = 1.0f / static_cast<float>(width);
  team.each(rows, [&](int t) {
    float sum = 0.0f, squares = 0.0f;
    for (int c = 0; c < width; ++c) sum += in.at(t, c);
    const float mean = sum * share;
    for (int c = 0; c < width; ++c) squares += (in.at(t, c) - mean) * (in.at(t, c) - mean);
    kept.of_row.at(t, 0) = mean;
    kept.scale.at(t, 0) = 1.0f / std::sqrt(squares * share + 1e-5f);
  });
  team.each(rows * width, [&](int i) {
    const int t = i / width, c = i % width;
    const float standard = (in.at(t, c) - kept.of_row.at(t, 0)) * kept.scale.at(t, 0);
    kept.standard.at(t, c) = standard;
    out.at(t, c) = standard * gain[c];
  });
}

// din is written, plus residual where that has data; dgain [width] is added to. din may be dout or the residual.
template <class Team>
MAMBARIUM_HOST_DEVICE void layer_norm_backward(const Team& team, int rows, int width, const float* gain,
                                               const NormRows& kept, Numbers dout, Numbers residual, NumbersOut din,
                                               float* dgain) {
  const float share = 1.0f / static_cast<float>(width);
  team.each(rows + width, [&](int i) {
    float first = 0.0f, second = 0.0f;
    if (i < rows) {
      for (int c = 0; c < width; ++c) {
        const float scaled = dout.at(i, c) * gain[c];
        first += scaled;
        second += scaled * kept.standard.at(i, c);
      }
      kept.of_row.at(i, 0) = first * share;
      kept.of_row.at(i, 1) = second * share;
    } else {
      for (int t = 0; t < rows; ++t) first += dout.at(t, i - rows) * kept.standard.at(t, i - rows);
      dgain[i - rows] += first;
    }
  });
  team.each(rows * width, [&](int i) {
    const int t = i / width, c = i % width;
    const float off = dout.at(t, c) * gain[c] - kept.of_row.at(t, 0) - kept.of_row.at(t, 1) * kept.standard.at(t, c);
    din.at(t, c) = kept.scale.at(t, 0) * off + (residual.data == nullptr ? 0.0f : residual.at(t, c));
  });
}

}  // namespace mambarium::gpu
