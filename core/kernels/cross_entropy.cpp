#include "core/kernels/cross_entropy.h"

#include <algorithm>

#include "core/kernels/group_sums.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/matrix_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/cross_entropy.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/read_out-inl.h"
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

// The sum of -log p_target over rows; where wanted also its gradient, scaled. turned: scratch of 2 states lanes
// numbers.
double SumOfLosses(std::int64_t rows, std::int64_t states, bool l1, Strided<const float> logits,
                   const std::int64_t* targets, float scale, Strided<float> gradient, float* turned) {
  const D d;
  const Integers integers;
  float* turned_gradient = gradient.data != nullptr ? turned + states * lanes : nullptr;
  double loss = 0;
  for (std::int64_t t = 0; t < rows; t += lanes) {
    const std::int64_t count = std::min(lanes, rows - t);
    std::int32_t of_lane[lanes] = {};
    float log_p[lanes];
    for (std::int64_t lane = 0; lane < count; ++lane) {
      of_lane[lane] = static_cast<std::int32_t>(targets[t + lane]);
    }
    for (std::int64_t s = 0; s < states; ++s) {
      float* to = turned + s * lanes;
      const float* from = logits.row(t) + s;
      for (std::int64_t lane = 0; lane < lanes; ++lane) {
        to[lane] = from[std::min(lane, count - 1) * logits.stride];
      }
    }
    hn::StoreU(ReadOut(states, l1, turned, hn::LoadU(integers, of_lane), hn::Set(d, scale), turned_gradient), d, log_p);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      loss -= static_cast<double>(log_p[lane]);
    }
    for (std::int64_t s = 0; turned_gradient != nullptr && s < states; ++s) {
      for (std::int64_t lane = 0; lane < count; ++lane) {
        gradient.row(t + lane)[s] = turned_gradient[s * lanes + lane];
      }
    }
  }
  return loss;
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(SumOfLosses);

namespace {

constexpr std::int64_t block_rows = 256;
constexpr std::int64_t most_lanes = 64;

struct ReadOutSums {
  float* norm = nullptr;
  Strided<float> lm_head;  // [states][d_model]
  float* first = nullptr;
  std::int64_t count = 0;
};

struct Packed {
  Strided<float> rows, columns;  // lm_head [states][d_model] and transposed
};

Packed pack(const ReadOutShape& shape, const ReadOutTensors<const float>& weights, Scratch& scratch) {
  Packed packed{scratch.rows(shape.states, shape.d_model), scratch.rows(shape.d_model, shape.states)};
  for (std::int64_t s = 0; s < shape.states; ++s) {
    std::copy_n(weights.lm_head + s * shape.d_model, shape.d_model, packed.rows.row(s));
  }
  transpose(shape.states, shape.d_model, packed.rows, packed.columns);
  return packed;
}

struct Block {
  Strided<const float> normed;
  Strided<float> logits;
};

Block forward(const ReadOutShape& shape, const ReadOutTensors<const float>& weights, const Packed& packed,
              std::int64_t rows, Strided<const float> u, Scratch& scratch) {
  Block block{u, scratch.rows(rows, shape.states)};
  if (weights.norm != nullptr) {
    const auto normed = scratch.rows(rows, shape.d_model);
    layer_norm(rows, shape.d_model, u, weights.norm, normed);
    block.normed = normed;
  }
  product(rows, shape.d_model, shape.states, block.normed, packed.columns, block.logits, false);
  return block;
}

}  // namespace

double cross_entropy(const ReadOutShape& shape, const ReadOutTensors<const float>& weights, Strided<const float> u,
                     const std::int64_t* targets, Strided<float> du, const ReadOutTensors<float>& gradients,
                     int threads) {
  const std::int64_t d_model = shape.d_model, blocks = (shape.rows + block_rows - 1) / block_rows;
  const float scale = 1.0f / static_cast<float>(shape.rows);
  Scratch shared;
  const Packed packed = pack(shape, weights, shared);
  std::vector<double> losses(static_cast<std::size_t>(blocks));
  const auto make = [&](Scratch& scratch) {
    ReadOutSums sums;
    const std::int64_t padded = (d_model + 15) / 16 * 16;
    sums.count = padded * (shape.states + 1);
    sums.norm = sums.first = scratch.zeros(sums.count);
    sums.lm_head = {sums.first + padded, padded};
    return sums;
  };
  const auto sums = sum_over_groups(
      blocks, threads, shared, make, [&](std::int64_t index, const ReadOutSums& group, Scratch& scratch) {
        const std::int64_t first = index * block_rows, rows = std::min(block_rows, shape.rows - first);
        const Strided<const float> in{u.row(first), u.stride};
        const Block block = forward(shape, weights, packed, rows, in, scratch);
        const auto dlogits = du.data != nullptr ? scratch.rows(rows, shape.states) : Strided<float>{};
        losses[static_cast<std::size_t>(index)] =
            HWY_DYNAMIC_DISPATCH(SumOfLosses)(rows, shape.states, shape.l1, block.logits, targets + first, scale,
                                              dlogits, scratch.floats(2 * shape.states * most_lanes));
        if (du.data == nullptr) {
          return;
        }
        add_outer_products(rows, shape.states, d_model, dlogits, block.normed, group.lm_head);
        const Strided<float> to{du.row(first), du.stride};
        product(rows, shape.states, d_model, dlogits, packed.rows, to, false);
        if (weights.norm != nullptr) {
          layer_norm_backward(rows, d_model, in, weights.norm, to, to, false, group.norm);
        }
      });
  if (du.data != nullptr) {
    if (gradients.norm != nullptr) {
      std::copy_n(sums.norm, d_model, gradients.norm);
    }
    for (std::int64_t s = 0; s < shape.states; ++s) {
      std::copy_n(sums.lm_head.row(s), d_model, gradients.lm_head + s * d_model);
    }
  }
  double loss = 0;
  for (const double block_loss : losses) {
    loss += block_loss;
  }
  return loss / static_cast<double>(shape.rows);
}

}  // namespace mambarium::kernels
#endif
