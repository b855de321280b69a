#include "core/kernels/cross_entropy.h"

#include <algorithm>

#include "core/kernels/group_sums.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/matrix_product.h"

#undef HWY_TARGET_INCLUDE
#define HWY_TARGET_INCLUDE "core/kernels/cross_entropy.cpp"
#include "hwy/foreach_target.h"
// foreach_target.h comes first.
#include "core/kernels/vector_math-inl.h"
#include "hwy/highway.h"

HWY_BEFORE_NAMESPACE();
namespace mambarium::kernels::HWY_NAMESPACE {
namespace {

constexpr float l1_floor = 1e-5f;

HWY_INLINE V Maximum(D d, std::int64_t states, const float* logits) {
  V largest = hn::LoadU(d, logits);
  for (std::int64_t s = 1; s < states; ++s) {
    const V logit = hn::LoadU(d, logits + s * lanes);
    largest = hn::IfThenElse(hn::Gt(logit, largest), logit, largest);
  }
  return largest;
}

// logits hold one vector of rows per state, [states][lanes], and become log-probabilities; `gradient`, where wanted,
// becomes d(-log p_target) / d logit, for one-hot targets of the same layout.
void ReadOut(std::int64_t states, bool l1, float* logits, const float* one_hot, float* gradient) {
  const D d;
  const V floor = hn::Set(d, l1_floor), zero = hn::Zero(d);
  V sum = zero, shift = zero;
  if (l1) {
    for (std::int64_t s = 0; s < states; ++s) {
      sum = hn::Add(sum, hn::Add(Activated<Activation::relu>(d, hn::LoadU(d, logits + s * lanes)), floor));
    }
  } else {
    shift = Maximum(d, states, logits);
    for (std::int64_t s = 0; s < states; ++s) {
      sum = hn::Add(sum, FaithfulExp(d, hn::Sub(hn::LoadU(d, logits + s * lanes), shift)));
    }
  }
  const V log_sum = hn::Log(d, sum), inverse = hn::Div(hn::Set(d, 1.0f), sum);
  for (std::int64_t s = 0; s < states; ++s) {
    float* at = logits + s * lanes;
    const V logit = hn::LoadU(d, at);
    const V weight = hn::Add(Activated<Activation::relu>(d, logit), floor);
    const V log_p = l1 ? hn::Sub(hn::Log(d, weight), log_sum) : hn::Sub(hn::Sub(logit, shift), log_sum);
    if (gradient != nullptr) {
      const V hot = hn::LoadU(d, one_hot + s * lanes);
      const V into_logit = l1 ? hn::IfThenElseZero(hn::Gt(logit, zero), hn::Sub(inverse, hn::Div(hot, weight)))
                              : hn::Sub(FaithfulExp(d, log_p), hot);
      hn::StoreU(into_logit, d, gradient + s * lanes);
    }
    hn::StoreU(log_p, d, at);
  }
}

std::int64_t LaneCount() {
  return lanes;
}

}  // namespace
}  // namespace mambarium::kernels::HWY_NAMESPACE
HWY_AFTER_NAMESPACE();

#if HWY_ONCE
namespace mambarium::kernels {

HWY_EXPORT(ReadOut);
HWY_EXPORT(LaneCount);

namespace {

constexpr std::int64_t block_rows = 256;

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

// The sum of -log p_target; where wanted also its gradient, scaled.
double read_out(const ReadOutShape& shape, std::int64_t rows, Strided<const float> logits, const std::int64_t* targets,
                float scale, Strided<float> gradient, Scratch& scratch) {
  const Scratch::Frame frame(scratch);
  const std::int64_t lanes = HWY_DYNAMIC_DISPATCH(LaneCount)(), states = shape.states;
  float* turned = scratch.zeros(states * lanes);
  float* one_hot = scratch.zeros(states * lanes);
  float* turned_gradient = gradient.data != nullptr ? scratch.floats(states * lanes) : nullptr;
  double loss = 0;
  for (std::int64_t t = 0; t < rows; t += lanes) {
    const std::int64_t count = std::min(lanes, rows - t);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      for (std::int64_t s = 0; s < states; ++s) {
        turned[s * lanes + lane] = logits.row(t + lane)[s];
      }
      one_hot[targets[t + lane] * lanes + lane] = 1.0f;
    }
    HWY_DYNAMIC_DISPATCH(ReadOut)(states, shape.l1, turned, one_hot, turned_gradient);
    for (std::int64_t lane = 0; lane < count; ++lane) {
      for (std::int64_t s = 0; turned_gradient != nullptr && s < states; ++s) {
        gradient.row(t + lane)[s] = scale * turned_gradient[s * lanes + lane];
      }
      const std::int64_t target = targets[t + lane] * lanes + lane;
      loss -= static_cast<double>(turned[target]);
      one_hot[target] = 0.0f;
    }
  }
  return loss;
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
            read_out(shape, rows, block.logits, targets + first, scale, dlogits, scratch);
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
