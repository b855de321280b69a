#include "core/kernels/mixer.h"

#include <algorithm>

#include "core/kernels/causal_convolution.h"
#include "core/kernels/decay.h"
#include "core/kernels/flush_denormals.h"
#include "core/kernels/gated_activation.h"
#include "core/kernels/group_sums.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/matrix_product.h"
#include "core/kernels/mixer_weights.h"
#include "core/kernels/parallel.h"
#include "core/kernels/selective_scan.h"
#include "core/kernels/skip.h"

namespace mambarium::kernels {

namespace {

void copy_rows(std::int64_t length, std::int64_t width, Strided<const float> from, Strided<float> to) {
  for (std::int64_t t = 0; t < length; ++t) {
    std::copy_n(from.row(t), width, to.row(t));
  }
}

// One sequence of a mixer: its intermediate rows live in scratch.
class MixerSequence {
 public:
  MixerSequence(const MixerShape& shape, bool gate, const MixerTensors<const float>& weights,
                const MixerWeights& packed, Scratch& scratch)
      : shape_(shape), gate_(gate), weights_(weights), packed_(packed), scratch_(scratch), columns_(shape, gate) {}

  // projected -> gated.
  void inside(Strided<const float> projected, Strided<float> gated) {
    until_norm(projected, {});
    if (gate_) {
      gated_activation(shape_.length, shape_.inner(), normed_, projected.columns(columns_.z), shape_.activation, gated);
    } else {
      copy_rows(shape_.length, shape_.inner(), normed_, gated);
    }
  }

  // dprojected is written; `gated`, where wanted, receives the forward result.
  void inside_backward(Strided<const float> projected, Strided<const float> dgated, Strided<float> dprojected,
                       const MixerSums& sums, Strided<float> gated) {
    const std::int64_t length = shape_.length, inner = shape_.inner();
    const auto slope = scratch_.rows(length, shape_.convolved());
    until_norm(projected, slope);

    auto dy = scratch_.rows(length, inner);
    if (gate_) {
      gated_activation_backward(length, inner, normed_, projected.columns(columns_.z), shape_.activation, dgated, dy,
                                dprojected.columns(columns_.z), gated);
    } else {
      copy_rows(length, inner, dgated, dy);
      if (gated.data != nullptr) {
        copy_rows(length, inner, normed_, gated);
      }
    }
    if (weights_.y_norm != nullptr) {
      layer_norm_backward(length, inner, y_, weights_.y_norm, dy, dy, false, sums.y_norm);
    }

    const auto dactive = scratch_.rows(length, shape_.convolved());
    float* ddt = scratch_.floats(length * shape_.heads);
    float* da = scratch_.floats(length * shape_.heads);
    const auto rows = [](Strided<float> of) { return Rows<float>{of.data, 0, of.stride}; };
    selective_scan_backward_sequence(scan_shape(), scan_inputs(), 0, rows(dy), nullptr,
                                     {rows(dactive),
                                      {ddt, 0, shape_.heads},
                                      {da, 0, shape_.heads},
                                      rows(dactive.columns(columns_.B)),
                                      rows(dactive.columns(columns_.C)),
                                      nullptr},
                                     scratch_);
    if (weights_.D != nullptr) {
      skip_backward(length, shape_.heads, shape_.headdim, active_, weights_.D, dy, dactive, sums.D);
    }
    decay_backward(length, shape_.heads, projected.columns(columns_.dt), weights_.dt_bias, weights_.A_log, dt_, a_, ddt,
                   da, dprojected.columns(columns_.dt), sums.dt_bias, weights_.A_log ? sums.A_log : nullptr, scratch_);
    causal_convolution_backward(convolution(), projected, packed_.taps, slope, dactive, dprojected, sums.taps,
                                sums.conv_bias);
  }

 private:
  ConvolutionShape convolution() const { return {shape_.length, shape_.convolved(), shape_.d_conv}; }
  ScanShape scan_shape() const { return {1, shape_.length, shape_.heads, shape_.headdim, shape_.d_state}; }
  ScanInputs<float> scan_inputs() const {
    const auto rows = [](Strided<const float> of) { return Rows<const float>{of.data, 0, of.stride}; };
    return {rows(active_),
            {dt_, 0, shape_.heads},
            {a_, 0, shape_.heads},
            rows(active_.columns(columns_.B)),
            rows(active_.columns(columns_.C)),
            nullptr};
  }

  void until_norm(Strided<const float> projected, Strided<float> slope) {
    const std::int64_t length = shape_.length;
    active_ = scratch_.rows(length, shape_.convolved());
    dt_ = scratch_.floats(length * shape_.heads);
    a_ = scratch_.floats(length * shape_.heads);
    y_ = normed_ = scratch_.rows(length, shape_.inner());
    causal_convolution(convolution(), projected, packed_.taps, packed_.conv_bias, shape_.activation, active_, slope);
    decay(length, shape_.heads, projected.columns(columns_.dt), weights_.dt_bias, weights_.A_log, dt_, a_);
    selective_scan_sequence(scan_shape(), scan_inputs(), 0, {y_.data, 0, y_.stride}, nullptr, scratch_);
    if (weights_.D != nullptr) {
      skip(length, shape_.heads, shape_.headdim, active_, weights_.D, y_);
    }
    if (weights_.y_norm != nullptr) {
      normed_ = scratch_.rows(length, shape_.inner());
      layer_norm(length, shape_.inner(), y_, weights_.y_norm, normed_);
    }
  }

  const MixerShape& shape_;
  bool gate_;
  const MixerTensors<const float>& weights_;
  const MixerWeights& packed_;
  Scratch& scratch_;
  MixerColumns columns_;
  Strided<float> active_, y_, normed_;
  float *dt_ = nullptr, *a_ = nullptr;
};

}  // namespace

void mixer_inside(const MixerShape& shape, bool gate, const MixerTensors<const float>& weights,
                  Rows<const float> projected, Rows<float> gated, int threads) {
  Scratch shared;
  const auto packed = pack(shape, gate, false, weights, shared);
  parallel_ranges(shape.batch, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      const Scratch::Frame frame(scratch);
      MixerSequence(shape, gate, weights, packed, scratch).inside(projected.sequence(b), gated.sequence(b));
    }
  });
}

void mixer_inside_backward(const MixerShape& shape, bool gate, const MixerTensors<const float>& weights,
                           Rows<const float> projected, Rows<const float> dgated, Rows<float> dprojected,
                           const MixerTensors<float>& gradients, int threads) {
  Scratch shared;
  const auto packed = pack(shape, gate, false, weights, shared);
  const auto sums = sum_over_groups(
      shape.batch, threads, shared, [&](Scratch& scratch) { return make_sums(shape, gate, false, scratch); },
      [&](std::int64_t b, const MixerSums& group, Scratch& scratch) {
        MixerSequence(shape, gate, weights, packed, scratch)
            .inside_backward(projected.sequence(b), dgated.sequence(b), dprojected.sequence(b), group, {});
      });
  unpack(shape, gate, sums, gradients);
}

void mixer(const MixerShape& shape, const MixerTensors<const float>& weights, Rows<const float> u, Rows<float> out,
           int threads) {
  const bool gate = weights.in_z != nullptr;
  const std::int64_t length = shape.length, width = MixerColumns(shape, gate).width;
  Scratch shared;
  const auto packed = pack(shape, gate, true, weights, shared);
  parallel_ranges(shape.batch, threads, [&](std::int64_t begin, std::int64_t end) {
    const FlushDenormals flush;
    Scratch scratch;
    for (std::int64_t b = begin; b < end; ++b) {
      const Scratch::Frame frame(scratch);
      auto normed = u.sequence(b);
      if (weights.norm != nullptr) {
        const auto rows = scratch.rows(length, shape.d_model);
        layer_norm(length, shape.d_model, u.sequence(b), weights.norm, rows);
        normed = rows;
      }
      const auto projected = scratch.rows(length, width), gated = scratch.rows(length, shape.inner());
      product(length, shape.d_model, width, normed, packed.in, projected, false);
      MixerSequence(shape, gate, weights, packed, scratch).inside(projected, gated);
      copy_rows(length, shape.d_model, u.sequence(b), out.sequence(b));
      product(length, shape.inner(), shape.d_model, gated, packed.out_columns, out.sequence(b), true);
    }
  });
}

void mixer_backward(const MixerShape& shape, const MixerTensors<const float>& weights, Rows<const float> u,
                    Rows<const float> dout, Rows<float> du, const MixerTensors<float>& gradients, int threads) {
  const bool gate = weights.in_z != nullptr;
  const std::int64_t length = shape.length, inner = shape.inner(), width = MixerColumns(shape, gate).width;
  Scratch shared;
  const auto packed = pack(shape, gate, true, weights, shared);
  const auto sums = sum_over_groups(
      shape.batch, threads, shared, [&](Scratch& scratch) { return make_sums(shape, gate, true, scratch); },
      [&](std::int64_t b, const MixerSums& group, Scratch& scratch) {
        auto normed = u.sequence(b);
        if (weights.norm != nullptr) {
          const auto rows = scratch.rows(length, shape.d_model);
          layer_norm(length, shape.d_model, u.sequence(b), weights.norm, rows);
          normed = rows;
        }
        const auto projected = scratch.rows(length, width), dprojected = scratch.rows(length, width);
        const auto gated = scratch.rows(length, inner), dgated = scratch.rows(length, inner);
        product(length, shape.d_model, width, normed, packed.in, projected, false);
        product(length, shape.d_model, inner, dout.sequence(b), packed.out, dgated, false);
        MixerSequence(shape, gate, weights, packed, scratch)
            .inside_backward(projected, dgated, dprojected, group, gated);
        add_outer_products(length, shape.d_model, inner, dout.sequence(b), gated, group.out);
        add_outer_products(length, shape.d_model, width, normed, dprojected, group.in);

        copy_rows(length, shape.d_model, dout.sequence(b), du.sequence(b));
        if (weights.norm == nullptr) {
          product(length, width, shape.d_model, dprojected, packed.in_rows, du.sequence(b), true);
        } else {
          const auto dnormed = scratch.rows(length, shape.d_model);
          product(length, width, shape.d_model, dprojected, packed.in_rows, dnormed, false);
          layer_norm_backward(length, shape.d_model, u.sequence(b), weights.norm, dnormed, du.sequence(b), true,
                              group.norm);
        }
      });
  unpack(shape, gate, sums, gradients);
}

}  // namespace mambarium::kernels
