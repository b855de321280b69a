#include "core/kernels/mixer_weights.h"

#include <algorithm>

#include "core/kernels/matrix_product.h"

namespace mambarium::kernels {

namespace {

// work(pointer member, first joined row, rows) for every segment of in_proj.
template <class Real, class Work>
void each_projection(const MixerShape& shape, const MixerTensors<Real>& tensors, const MixerColumns& columns,
                     const Work& work) {
  work(tensors.in_x, columns.x, shape.inner());
  work(tensors.in_B, columns.B, shape.d_state);
  work(tensors.in_C, columns.C, shape.d_state);
  work(tensors.in_z, columns.z, shape.inner());
  work(tensors.in_dt, columns.dt, shape.heads);
}

template <class Real, class Work>
void each_convolution(const MixerShape& shape, const MixerTensors<Real>& tensors, const MixerColumns& columns,
                      const Work& work) {
  work(tensors.conv_x, tensors.conv_x_bias, columns.x, shape.inner());
  work(tensors.conv_B, tensors.conv_B_bias, columns.B, shape.d_state);
  work(tensors.conv_C, tensors.conv_C_bias, columns.C, shape.d_state);
}

std::int64_t padded(std::int64_t count) {
  return (count + 15) / 16 * 16;
}

}  // namespace

MixerSums make_sums(const MixerShape& shape, bool gate, bool linear, Scratch& scratch) {
  const MixerColumns columns(shape, gate);
  const std::int64_t rows = linear ? shape.d_model : 0;
  MixerSums sums;
  const auto layout = [&](float* first) {
    std::int64_t used = 0;
    const auto take = [&](std::int64_t count) {
      float* taken = first == nullptr ? nullptr : first + used;
      used += padded(count);
      return taken;
    };
    sums.norm = take(rows);
    sums.taps = take(shape.d_conv * shape.convolved());
    sums.conv_bias = take(shape.convolved());
    sums.dt_bias = take(shape.heads);
    sums.A_log = take(shape.heads);
    sums.D = take(shape.heads);
    sums.y_norm = take(shape.inner());
    sums.in = {take(rows * padded(columns.width)), padded(columns.width)};
    sums.out = {take(rows * padded(shape.inner())), padded(shape.inner())};
    return used;
  };
  sums.count = layout(nullptr);
  sums.first = scratch.zeros(sums.count);
  layout(sums.first);
  return sums;
}

MixerWeights pack(const MixerShape& shape, bool gate, bool linear, const MixerTensors<const float>& weights,
                  Scratch& scratch) {
  const MixerColumns columns(shape, gate);
  MixerWeights packed{make_sums(shape, gate, linear, scratch), {}, {}};
  each_convolution(shape, weights, columns, [&](const float* taps, const float* bias, auto first, auto channels) {
    for (std::int64_t c = 0; c < channels; ++c) {
      for (std::int64_t i = 0; i < shape.d_conv; ++i) {
        const float tap = taps != nullptr ? taps[c * shape.d_conv + i] : i == shape.d_conv - 1 ? 1.0f : 0.0f;
        packed.taps[i * shape.convolved() + first + c] = tap;
      }
      packed.conv_bias[first + c] = bias != nullptr ? bias[c] : 0.0f;
    }
  });
  if (linear) {
    packed.in_rows = scratch.rows(columns.width, shape.d_model);
    each_projection(shape, weights, columns, [&](const float* rows, auto first, auto count) {
      for (std::int64_t i = 0; rows != nullptr && i < count; ++i) {
        std::copy_n(rows + i * shape.d_model, shape.d_model, packed.in_rows.row(first + i));
      }
    });
    transpose(columns.width, shape.d_model, packed.in_rows, packed.in);
    transpose(shape.d_model, shape.inner(), Strided<const float>{weights.out_proj, shape.inner()},
              packed.out_columns = scratch.rows(shape.inner(), shape.d_model));
    for (std::int64_t i = 0; i < shape.d_model; ++i) {
      std::copy_n(weights.out_proj + i * shape.inner(), shape.inner(), packed.out.row(i));
    }
  }
  return packed;
}

void unpack(const MixerShape& shape, bool gate, const MixerSums& sums, const MixerTensors<float>& gradients) {
  const MixerColumns columns(shape, gate);
  const auto copy = [](const float* from, std::int64_t count, float* to) {
    if (to != nullptr) {
      std::copy_n(from, count, to);
    }
  };
  copy(sums.norm, shape.d_model, gradients.norm);
  copy(sums.dt_bias, shape.heads, gradients.dt_bias);
  copy(sums.A_log, shape.heads, gradients.A_log);
  copy(sums.D, shape.heads, gradients.D);
  copy(sums.y_norm, shape.inner(), gradients.y_norm);
  each_convolution(shape, gradients, columns, [&](float* taps, float* bias, auto first, auto channels) {
    copy(sums.conv_bias + first, channels, bias);
    for (std::int64_t c = 0; taps != nullptr && c < channels; ++c) {
      for (std::int64_t i = 0; i < shape.d_conv; ++i) {
        taps[c * shape.d_conv + i] = sums.taps[i * shape.convolved() + first + c];
      }
    }
  });
  each_projection(shape, gradients, columns, [&](float* rows, auto first, auto count) {
    for (std::int64_t i = 0; rows != nullptr && i < count; ++i) {
      for (std::int64_t k = 0; k < shape.d_model; ++k) {
        rows[i * shape.d_model + k] = sums.in.row(k)[first + i];
      }
    }
  });
  for (std::int64_t i = 0; gradients.out_proj != nullptr && i < shape.d_model; ++i) {
    std::copy_n(sums.out.row(i), shape.inner(), gradients.out_proj + i * shape.inner());
  }
}

}  // namespace mambarium::kernels
