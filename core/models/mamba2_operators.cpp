#include "core/models/mamba2_operators.h"

#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium::operators {

namespace {

at::Tensor segment(const Mamba2Options& options, const at::Tensor& projected, const at::Tensor& weight,
                   const at::Tensor& bias, at::Tensor* past, const MixerFunctions& functions) {
  if (!weight.defined()) {
    return activate(projected, options.activation);
  }
  if (functions.convolution) return functions.convolution(projected, weight, bias);
  return activate(continued_convolution(projected, weight, bias, past), options.activation);
}

// The scan of Mamba-1, to which a head is P channels that share dt and the same A for every state. x [b, T, d_inner].
ScanResult coupled_heads(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& x,
                         const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C, const at::Tensor& h0,
                         const MixerFunctions& functions) {
  const std::int64_t heads = options.heads(), width = options.head_width(), inner = options.d_inner();
  const auto dt_of_channels = dt.unsqueeze(-1).expand({dt.size(0), dt.size(1), heads, width}).flatten(-2);
  const auto rates = options.learned_decay ? -torch::exp(layer.A_log) : torch::zeros({heads}, x.options());
  const auto A = rates.repeat_interleave(width).unsqueeze(-1).expand({inner, options.d_state});
  const auto P = layer.coupling.scaled_P();
  auto scan = functions.coupled_scan ? functions.coupled_scan(x, dt_of_channels, B, C, A, P, layer.coupling.Q)
                                     : coupled_scan(x, dt_of_channels, B, C, A, P, layer.coupling.Q,
                                                    options.coupling.form(), h0.defined() ? h0.flatten(1, 2) : h0);
  return {scan.y.unflatten(-1, {heads, width}), scan.state.unflatten(1, {heads, width})};
}

}  // namespace

at::Tensor mixer(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u, LayerState* state,
                 ScanInputs* taken, const MixerFunctions& functions) {
  const auto linear = [&](const at::Tensor& input, const at::Tensor& weight) {
    return functions.linear ? functions.linear(input, weight) : torch::linear(input, weight);
  };
  const std::int64_t inner = options.d_inner(), d_state = options.d_state, heads = options.heads();
  std::vector<at::Tensor> rows = {layer.in_x, layer.in_B, layer.in_C, layer.in_dt};
  if (options.gate) {
    rows.push_back(layer.in_z);
  }
  const auto projected = linear(u, torch::cat(rows, 0));
  const auto columns = [&](std::int64_t first, std::int64_t count) { return projected.narrow(-1, first, count); };

  const auto x =
      segment(options, columns(0, inner), layer.conv_x, layer.conv_x_bias, state ? &state->past_x : nullptr, functions);
  const auto B = segment(options, columns(inner, d_state), layer.conv_B, layer.conv_B_bias,
                         state ? &state->past_B : nullptr, functions);
  const auto C = segment(options, columns(inner + d_state, d_state), layer.conv_C, layer.conv_C_bias,
                         state ? &state->past_C : nullptr, functions);
  const auto dt = torch::softplus(columns(inner + 2 * d_state, heads) + layer.dt_bias);
  const auto a = options.learned_decay ? torch::exp(-torch::exp(layer.A_log) * dt) : torch::ones_like(dt);
  if (taken != nullptr) {
    *taken = {x, dt, a, B, C};
  }

  const auto by_head = x.unflatten(-1, {heads, options.head_width()});
  const auto h0 = state ? state->h : at::Tensor();
  auto scan = layer.coupling.defined() ? coupled_heads(options, layer, x, dt, B, C, h0, functions)
                                       : selective_scan(by_head, dt, a, B, C, h0);
  if (state != nullptr) {
    state->h = scan.state;
  }
  if (options.skip) {
    scan.y = scan.y + layer.D.unsqueeze(-1) * by_head;
  }
  auto y = scan.y.flatten(-2);
  if (options.norm) {
    y = layer_norm(y, layer.y_norm);
  }
  if (options.gate) {
    y = y * activate(columns(inner + 2 * d_state + heads, inner), options.activation);
  }
  return linear(y, layer.out_proj);
}

at::Tensor mlp(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u, const Linear& linear) {
  if (options.mlp == Mlp::plain) {
    const auto activation = options.activation == Activation::none ? Activation::relu : options.activation;
    return linear(activate(linear(u, layer.fc1), activation), layer.fc2);
  }
  const auto both = linear(u, torch::cat({layer.fc1, layer.fc1_gate}, 0)).chunk(2, -1);
  return linear(both[0] * activate(both[1], options.activation), layer.fc2);
}

at::Tensor block(const Mamba2Options& options, const Mamba2Layer& layer, const at::Tensor& u, LayerState* state,
                 ScanInputs* taken) {
  const auto normed = [&](const at::Tensor& rows, const at::Tensor& weight) {
    return options.norm ? layer_norm(rows, weight) : rows;
  };
  const auto linear = [](const at::Tensor& rows, const at::Tensor& weight) { return torch::linear(rows, weight); };
  const auto mixed = u + mixer(options, layer, normed(u, layer.norm), state, taken);
  return options.mlp == Mlp::none ? mixed : mixed + mlp(options, layer, normed(mixed, layer.mlp_norm), linear);
}

}  // namespace mambarium::operators
