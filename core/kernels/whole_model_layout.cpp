#include "core/kernels/whole_model_layout.h"

#include <algorithm>

namespace mambarium::kernels {

namespace {

// Where one tensor of a model lies in the flat array.
template <class Real>
struct Piece {
  Real* tensor = nullptr;
  std::int64_t first = 0, count = 0;
  ParameterRole role = ParameterRole::trained;
};

template <class Real, class Work>
void each_piece_of_mixer(const MixerShape& shape, const WholeModelLayout& layout, const WholeModelLayout::Block& at,
                         const MixerTensors<Real>& tensors, const Work& work) {
  const std::int64_t d_model = shape.d_model, inner = shape.inner(), d_state = shape.d_state;
  work(Piece<Real>{tensors.norm, at.norm, d_model});
  std::int64_t row = at.in;
  const auto rows = [&](Real* tensor, std::int64_t count) {
    work(Piece<Real>{tensor, row, count * d_model, ParameterRole::decayed});
    row += count * d_model;
  };
  rows(tensors.in_x, inner);
  rows(tensors.in_B, d_state);
  rows(tensors.in_C, d_state);
  if (layout.gate) rows(tensors.in_z, inner);
  rows(tensors.in_dt, shape.heads);
  std::int64_t channel = 0;
  const auto convolution = [&](Real* taps, Real* bias, std::int64_t channels) {
    work(Piece<Real>{taps, at.taps + channel * shape.d_conv, channels * shape.d_conv});
    work(Piece<Real>{bias, at.conv_bias + channel, channels});
    channel += channels;
  };
  convolution(tensors.conv_x, tensors.conv_x_bias, inner);
  convolution(tensors.conv_B, tensors.conv_B_bias, d_state);
  convolution(tensors.conv_C, tensors.conv_C_bias, d_state);
  work(Piece<Real>{tensors.dt_bias, at.dt_bias, shape.heads});
  work(Piece<Real>{tensors.A_log, at.A_log, shape.heads});
  work(Piece<Real>{tensors.D, at.D, shape.heads});
  work(Piece<Real>{tensors.y_norm, at.y_norm, inner});
  work(Piece<Real>{tensors.out_proj, at.out, d_model * inner, ParameterRole::decayed});
}

template <class Real, class Work>
void each_piece(const WholeModelShape& shape, const WholeModelLayout& layout, const WholeModelTensors<Real>& tensors,
                const Work& every_piece) {
  const std::int64_t d_model = shape.mixer.d_model, matrix = shape.hidden * d_model;
  const auto work = [&](const Piece<Real>& piece) {
    if (piece.tensor != nullptr) every_piece(piece);
  };
  work(Piece<Real>{tensors.embedding, layout.embedding, shape.states * d_model});
  for (std::size_t index = 0; index < layout.blocks.size(); ++index) {
    const auto& at = layout.blocks[index];
    const auto& block = tensors.blocks[index];
    each_piece_of_mixer(shape.mixer, layout, at, block.mixer, work);
    work(Piece<Real>{block.mlp.norm, at.mlp_norm, d_model});
    work(Piece<Real>{block.mlp.fc1, at.fc1, matrix, ParameterRole::decayed});
    work(Piece<Real>{block.mlp.fc1_gate, at.fc1 + matrix, matrix, ParameterRole::decayed});
    work(Piece<Real>{block.mlp.fc2, at.fc2, matrix, ParameterRole::decayed});
  }
  work(Piece<Real>{tensors.read_out.norm, layout.final_norm, d_model});
  work(Piece<Real>{tensors.read_out.lm_head, layout.lm_head, shape.states * d_model, ParameterRole::decayed});
}

}  // namespace

WholeModelLayout::WholeModelLayout(const WholeModelShape& shape, const WholeModelTensors<const float>& weights) {
  const MixerShape& mixer = shape.mixer;
  const std::int64_t d_model = mixer.d_model, inner = mixer.inner();
  const auto take = [this](std::int64_t numbers) {
    const std::int64_t first = count;
    count += numbers;
    return first;
  };
  const auto part = [&](const float* tensor, std::int64_t numbers) { return tensor ? take(numbers) : no_part; };
  embedding = take(shape.states * d_model);
  for (const auto& block : weights.blocks) {
    gate = block.mixer.in_z != nullptr;
    gated_mlp = block.mlp.fc1_gate != nullptr;
    Block at;
    at.norm = part(block.mixer.norm, d_model);
    at.in = take((mixer.convolved() + (gate ? inner : 0) + mixer.heads) * d_model);
    at.taps = take(mixer.convolved() * mixer.d_conv);
    at.conv_bias = take(mixer.convolved());
    at.dt_bias = take(mixer.heads);
    at.A_log = part(block.mixer.A_log, mixer.heads);
    at.D = part(block.mixer.D, mixer.heads);
    at.y_norm = part(block.mixer.y_norm, inner);
    at.out = take(d_model * inner);
    at.mlp_norm = part(block.mlp.norm, d_model);
    at.fc1 = part(block.mlp.fc1, (gated_mlp ? 2 : 1) * shape.hidden * d_model);
    at.fc2 = part(block.mlp.fc2, shape.hidden * d_model);
    blocks.push_back(at);
  }
  final_norm = part(weights.read_out.norm, d_model);
  lm_head = take(shape.states * d_model);
}

void pack(const WholeModelShape& shape, const WholeModelLayout& layout, const WholeModelTensors<const float>& tensors,
          float* flat) {
  std::fill_n(flat, layout.count, 0.0f);
  const std::int64_t window = shape.mixer.d_conv;
  for (const auto& at : layout.blocks) {
    for (std::int64_t channel = 0; channel < shape.mixer.convolved(); ++channel) {
      flat[at.taps + (channel + 1) * window - 1] = 1.0f;
    }
  }
  each_piece(shape, layout, tensors,
             [&](const Piece<const float>& piece) { std::copy_n(piece.tensor, piece.count, flat + piece.first); });
}

void unpack(const WholeModelShape& shape, const WholeModelLayout& layout, const float* flat,
            const WholeModelTensors<float>& tensors) {
  each_piece(shape, layout, tensors,
             [&](const Piece<float>& piece) { std::copy_n(flat + piece.first, piece.count, piece.tensor); });
}

std::vector<ParameterRole> parameter_roles(const WholeModelShape& shape, const WholeModelLayout& layout,
                                           const WholeModelTensors<const float>& tensors) {
  std::vector<ParameterRole> roles(static_cast<std::size_t>(layout.count), ParameterRole::fixed);
  each_piece(shape, layout, tensors, [&](const Piece<const float>& piece) {
    std::fill_n(roles.data() + piece.first, piece.count, piece.role);
  });
  return roles;
}

}  // namespace mambarium::kernels
