#include "core/kernels/mlp.h"

#include <algorithm>

#include "core/kernels/gated_activation.h"
#include "core/kernels/group_sums.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/matrix_product.h"

namespace mambarium::kernels {

namespace {

constexpr std::int64_t block_rows = 128;

struct MlpSums {
  float* norm = nullptr;
  Strided<float> fc1;  // [d_model][hidden, and the gate's hidden]: transposed
  Strided<float> fc2;  // [d_model][hidden]
  float* first = nullptr;
  std::int64_t count = 0;
};

struct MlpWeights {
  Strided<float> fc1, fc1_rows;     // [d_model][width], [width][d_model]
  Strided<float> fc2, fc2_columns;  // [d_model][hidden], [hidden][d_model]
};

std::int64_t padded(std::int64_t count) {
  return (count + 15) / 16 * 16;
}
std::int64_t width_of(const MlpShape& shape, bool gated) {
  return (gated ? 2 : 1) * shape.hidden;
}

MlpSums make_sums(const MlpShape& shape, bool gated, Scratch& scratch) {
  const std::int64_t width = padded(width_of(shape, gated)), hidden = padded(shape.hidden),
                     norm = padded(shape.d_model);
  MlpSums sums;
  sums.count = norm + shape.d_model * (width + hidden);
  sums.norm = sums.first = scratch.zeros(sums.count);
  sums.fc1 = {sums.first + norm, width};
  sums.fc2 = {sums.first + norm + shape.d_model * width, hidden};
  return sums;
}

MlpWeights pack(const MlpShape& shape, const MlpTensors<const float>& weights, Scratch& scratch) {
  const std::int64_t d_model = shape.d_model, hidden = shape.hidden;
  const std::int64_t width = width_of(shape, weights.fc1_gate != nullptr);
  MlpWeights packed{scratch.rows(d_model, width), scratch.rows(width, d_model), scratch.rows(d_model, hidden),
                    scratch.rows(hidden, d_model)};
  for (std::int64_t i = 0; i < width; ++i) {
    const float* row = i < hidden ? weights.fc1 + i * d_model : weights.fc1_gate + (i - hidden) * d_model;
    std::copy_n(row, d_model, packed.fc1_rows.row(i));
  }
  for (std::int64_t i = 0; i < d_model; ++i) {
    std::copy_n(weights.fc2 + i * hidden, hidden, packed.fc2.row(i));
  }
  transpose(width, d_model, packed.fc1_rows, packed.fc1);
  transpose(d_model, hidden, packed.fc2, packed.fc2_columns);
  return packed;
}

// A block of rows up to what fc2 takes.
struct Block {
  Strided<const float> normed;
  Strided<float> hidden;             // fc1's rows
  Strided<const float> value, gate;  // its halves; no value: a plain MLP
};

Block forward(const MlpShape& shape, const MlpTensors<const float>& weights, const MlpWeights& packed,
              std::int64_t rows, Strided<const float> u, Scratch& scratch) {
  const bool gated = weights.fc1_gate != nullptr;
  const std::int64_t width = width_of(shape, gated);
  Block block{u, scratch.rows(rows, width), {}, {}};
  if (weights.norm != nullptr) {
    const auto normed = scratch.rows(rows, shape.d_model);
    layer_norm(rows, shape.d_model, u, weights.norm, normed);
    block.normed = normed;
  }
  product(rows, shape.d_model, width, block.normed, packed.fc1, block.hidden, false);
  block.gate = gated ? block.hidden.columns(shape.hidden) : block.hidden;
  if (gated) {
    block.value = block.hidden;
  }
  return block;
}

void copy_rows(std::int64_t rows, std::int64_t width, Strided<const float> from, Strided<float> to) {
  for (std::int64_t t = 0; t < rows; ++t) {
    std::copy_n(from.row(t), width, to.row(t));
  }
}

}  // namespace

void mlp(const MlpShape& shape, const MlpTensors<const float>& weights, Strided<const float> u, Strided<float> out,
         int threads) {
  Scratch shared;
  const MlpWeights packed = pack(shape, weights, shared);
  const std::int64_t blocks = (shape.rows + block_rows - 1) / block_rows;
  parallel_ranges(blocks, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t index = begin; index < end; ++index) {
      const Scratch::Frame frame(scratch);
      const std::int64_t first = index * block_rows, rows = std::min(block_rows, shape.rows - first);
      const Strided<const float> in{u.row(first), u.stride};
      const Strided<float> to{out.row(first), out.stride};
      const Block block = forward(shape, weights, packed, rows, in, scratch);
      const auto active = scratch.rows(rows, shape.hidden);
      gated_activation(rows, shape.hidden, block.value, block.gate, shape.activation, active);
      copy_rows(rows, shape.d_model, in, to);
      product(rows, shape.hidden, shape.d_model, active, packed.fc2_columns, to, true);
    }
  });
}

void mlp_backward(const MlpShape& shape, const MlpTensors<const float>& weights, Strided<const float> u,
                  Strided<const float> dout, Strided<float> du, const MlpTensors<float>& gradients, int threads) {
  const bool gated = weights.fc1_gate != nullptr;
  const std::int64_t d_model = shape.d_model, hidden = shape.hidden, width = width_of(shape, gated);
  Scratch shared;
  const MlpWeights packed = pack(shape, weights, shared);
  const std::int64_t blocks = (shape.rows + block_rows - 1) / block_rows;
  const auto sums = sum_over_groups(
      blocks, threads, shared, [&](Scratch& scratch) { return make_sums(shape, gated, scratch); },
      [&](std::int64_t index, const MlpSums& group, Scratch& scratch) {
        const std::int64_t first = index * block_rows, rows = std::min(block_rows, shape.rows - first);
        const Strided<const float> in{u.row(first), u.stride}, incoming{dout.row(first), dout.stride};
        const Strided<float> to{du.row(first), du.stride};
        const Block block = forward(shape, weights, packed, rows, in, scratch);
        const auto active = scratch.rows(rows, hidden), dactive = scratch.rows(rows, hidden);
        product(rows, d_model, hidden, incoming, packed.fc2, dactive, false);
        const auto dhidden = scratch.rows(rows, width);
        gated_activation_backward(rows, hidden, block.value, block.gate, shape.activation, dactive, dhidden,
                                  gated ? dhidden.columns(hidden) : dhidden, active);
        add_outer_products(rows, d_model, hidden, incoming, active, group.fc2);
        add_outer_products(rows, d_model, width, block.normed, dhidden, group.fc1);

        copy_rows(rows, d_model, incoming, to);
        if (weights.norm == nullptr) {
          product(rows, width, d_model, dhidden, packed.fc1_rows, to, true);
        } else {
          const auto dnormed = scratch.rows(rows, d_model);
          product(rows, width, d_model, dhidden, packed.fc1_rows, dnormed, false);
          layer_norm_backward(rows, d_model, in, weights.norm, dnormed, to, true, group.norm);
        }
      });

  if (gradients.norm != nullptr) {
    std::copy_n(sums.norm, d_model, gradients.norm);
  }
  for (std::int64_t i = 0; i < width; ++i) {
    float* row = i < hidden ? gradients.fc1 + i * d_model : gradients.fc1_gate + (i - hidden) * d_model;
    for (std::int64_t k = 0; k < d_model; ++k) {
      row[k] = sums.fc1.row(k)[i];
    }
  }
  copy_rows(d_model, hidden, sums.fc2, {gradients.fc2, hidden});
}

}  // namespace mambarium::kernels
