#include "core/models/mamba2.h"

#include <cmath>
#include <stdexcept>

#include "core/models/layered_state.h"
#include "core/models/mamba2_kernels.h"
#include "core/models/mamba2_operators.h"
#include "core/models/model_tensors.h"
#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using State = LayeredState<operators::LayerState>;

}  // namespace

Mamba2::Mamba2(const Mamba2Options& options, Engine engine, Precision precision)
    : options_(options), engine_(engine), type_(precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64) {
  if (options_.d_inner() % options_.head_width() != 0) {
    throw std::invalid_argument("model.headdim: " + std::to_string(options_.headdim) +
                                " does not divide d_inner = " + std::to_string(options_.d_inner()));
  }
  if (engine_ == Engine::fused && type_ != torch::kFloat32) {
    throw std::invalid_argument("the fused engine computes in float32; float64 needs the torch engine");
  }
  const Initialiser draw(options_.seed, type_);
  constexpr double deviation = 0.02;
  if (options_.states > 0)
    embedding_ =
        add("embedding.weight", draw.normal("embedding.weight", {options_.states, options_.d_model}, deviation));
  for (std::int64_t index = 0; index < options_.layers; ++index) {
    add_layer(draw, "layers." + std::to_string(index) + ".");
  }
  if (options_.norm) {
    final_norm_ = add("final_norm.weight", draw.constant({options_.d_model}, 1));
  }
  if (options_.states > 0)
    lm_head_ =
        add("lm_head.weight", draw.normal("lm_head.weight", {options_.states, options_.d_model}, deviation), true);
}

at::Tensor& Mamba2::add(const std::string& name, at::Tensor tensor, bool decayed) {
  parameters_.push_back({name, tensor.set_requires_grad(true), decayed});
  return parameters_.back().tensor;
}

void Mamba2::add_layer(const Initialiser& draw, const std::string& prefix) {
  const std::int64_t d_model = options_.d_model, inner = options_.d_inner(), d_state = options_.d_state;
  const std::int64_t heads = options_.heads(), hidden = 4 * d_model;
  const double depth = std::sqrt(2.0 * static_cast<double>(options_.layers));

  const auto linear = [&](const std::string& part, std::int64_t rows) {
    const std::string name = prefix + part + ".weight";
    return add(name, draw.normal(name, {rows, d_model}, 0.02), true);
  };
  const auto residual = [&](const std::string& part, std::int64_t fan_in) {
    const std::string name = prefix + part + ".weight";
    return add(name, draw.uniform(name, {d_model, fan_in}, 1.0 / std::sqrt(static_cast<double>(fan_in)) / depth), true);
  };
  const auto norm = [&](const std::string& part, std::int64_t width) {
    return options_.norm ? add(prefix + part + ".weight", draw.constant({width}, 1)) : at::Tensor();
  };
  const auto convolution = [&](bool on, const std::string& part, std::int64_t channels, at::Tensor& weight,
                               at::Tensor& bias) {
    if (!on) return;
    if (options_.filters == Filters::fixed) {
      weight = draw.constant({1, options_.d_conv}, 2).cumprod(1) / 2;
      bias = draw.constant({1}, 1);
      return;
    }
    const std::int64_t filters = options_.filters == Filters::shared ? 1 : channels;
    const std::string name = prefix + "conv." + part;
    const double bound = 1.0 / std::sqrt(static_cast<double>(options_.d_conv));
    weight = add(name + ".weight", draw.uniform(name + ".weight", {filters, options_.d_conv}, bound));
    bias = add(name + ".bias", draw.uniform(name + ".bias", {filters}, bound));
  };

  Mamba2Layer layer;
  layer.norm = norm("norm", d_model);
  if (options_.gate) {
    layer.in_z = linear("in_proj.z", inner);
  }
  layer.in_x = linear("in_proj.x", inner);
  layer.in_B = linear("in_proj.B", d_state);
  layer.in_C = linear("in_proj.C", d_state);
  layer.in_dt = linear("in_proj.dt", heads);
  convolution(options_.conv_x, "x", inner, layer.conv_x, layer.conv_x_bias);
  convolution(options_.conv_B, "B", d_state, layer.conv_B, layer.conv_B_bias);
  convolution(options_.conv_C, "C", d_state, layer.conv_C, layer.conv_C_bias);
  layer.dt_bias = add(prefix + "dt_bias", draw.dt_bias(prefix + "dt_bias", heads));
  if (options_.learned_decay) {
    layer.A_log = add(prefix + "A_log", draw.log_decay_rate(prefix + "A_log", heads));
  }
  if (options_.skip) {
    layer.D = add(prefix + "D", draw.constant({heads}, 1));
  }
  layer.coupling = initial_coupling(options_.coupling, draw, prefix, inner, d_state);
  for (const auto& [name, tensor] : layer.coupling.named(prefix)) add(name, tensor);
  layer.y_norm = norm("y_norm", inner);
  layer.out_proj = residual("out_proj", inner);
  if (options_.mlp != Mlp::none) {
    layer.mlp_norm = norm("mlp_norm", d_model);
    layer.fc1 = linear("mlp.fc1", hidden);
    if (options_.mlp == Mlp::gated) {
      layer.fc1_gate = linear("mlp.fc1_gate", hidden);
    }
    layer.fc2 = residual("mlp.fc2", hidden);
  }
  layers_.push_back(layer);
}

at::Tensor Mamba2::through_blocks(at::Tensor u) const {
  for (const Mamba2Layer& layer : layers_) {
    u = engine_ == Engine::fused ? fused::block(options_, layer, u) : operators::block(options_, layer, u);
  }
  return u;
}

at::Tensor Mamba2::last_rows(const at::Tensor& tokens) const {
  return through_blocks(torch::embedding(embedding_, tokens));
}

at::Tensor Mamba2::normed(const at::Tensor& u) const {
  return options_.norm ? operators::layer_norm(u, final_norm_) : u;
}

at::Tensor Mamba2::rows(const at::Tensor& u) {
  return normed(through_blocks(u));
}

at::Tensor Mamba2::read_out(const at::Tensor& u) const {
  return operators::read_out(torch::linear(normed(u), lm_head_), options_.readout);
}

WholeModelPlan Mamba2::whole_model_plan(std::int64_t batch, std::int64_t length) const {
  return fused::whole_model_plan(options_, {embedding_, layers_, final_norm_, lm_head_}, parameters_, batch, length);
}

at::Tensor Mamba2::log_probabilities(const at::Tensor& tokens) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return read_out(last_rows(tokens));
}

at::Tensor Mamba2::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  check_batch(tokens, targets, options_.states);
  if (!every_target_counts(targets)) {
    const ScoredRows scored = scored_rows(last_rows(tokens), targets);
    return torch::nll_loss(read_out(scored.u).flatten(0, 1), scored.targets);
  }
  if (engine_ == Engine::fused && fused::suits_whole_loss(options_, tokens)) {
    return fused::whole_loss(options_, {embedding_, layers_, final_norm_, lm_head_}, tokens, targets, workspace_);
  }
  const auto u = last_rows(tokens);
  if (engine_ == Engine::fused) {
    return fused::loss(options_, u, final_norm_, lm_head_, targets);
  }
  return torch::nll_loss(read_out(u).flatten(0, 1), targets.flatten());
}

std::unique_ptr<ModelState> Mamba2::initial_state(std::int64_t batch) {
  return std::make_unique<State>(batch, layers_.size());
}

at::Tensor Mamba2::step(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 1, options_.states, "tokens");
  auto& own = State::of(state, tokens.size(0), layers_.size());
  auto u = torch::embedding(embedding_, tokens.unsqueeze(1));
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    u = operators::block(options_, layers_[index], u, &own.layers[index]);
  }
  return read_out(u.select(1, 0));
}

Tensor Mamba2::decay_factors(std::span<const std::int32_t> tokens) {
  const torch::NoGradGuard no_gradients;
  auto u = embedded(row_of(tokens));
  std::vector<at::Tensor> decays;
  for (const Mamba2Layer& layer : layers_) {
    operators::ScanInputs taken;
    u = operators::block(options_, layer, u, nullptr, &taken);
    decays.push_back(taken.decay);
  }
  return plain_tensor(torch::cat(decays, 0).transpose(1, 2));
}

std::pair<at::Tensor, at::Tensor> Mamba2::projections(const at::Tensor& tokens, std::int64_t layer) {
  const torch::NoGradGuard no_gradients;
  auto u = embedded(tokens);
  operators::ScanInputs taken;
  for (std::int64_t index = 0; index <= layer; ++index) {
    u = operators::block(options_, layers_.at(static_cast<std::size_t>(index)), u, nullptr, &taken);
  }
  return {taken.B, taken.C};
}

at::Tensor Mamba2::slowest_decays(std::int64_t layer) const {
  return torch::exp(layers_[static_cast<std::size_t>(layer)].A_log).repeat_interleave(options_.head_width());
}

std::vector<LayerCoupling> Mamba2::layer_couplings() const {
  std::vector<LayerCoupling> all;
  for (const Mamba2Layer& layer : layers_) all.push_back(layer.coupling);
  return all;
}

at::Tensor Mamba2::embedded(const at::Tensor& tokens) {
  check_tokens(tokens, 2, options_.states, "tokens");
  return torch::embedding(embedding_, tokens);
}

ChannelTrace Mamba2::trace(const at::Tensor& u, std::int64_t layer, std::int64_t channel) {
  const torch::NoGradGuard no_gradients;
  check_shape(u, "u", type_, {1, u.dim() == 3 ? u.size(1) : 1, options_.d_model});
  check_place(layer, options_.layers, "layer");
  check_place(channel, channels(), "channel");
  auto rows = u;
  operators::ScanInputs taken;
  for (std::int64_t index = 0; index <= layer; ++index) {
    const Mamba2Layer& passed = layers_[static_cast<std::size_t>(index)];
    rows = engine_ == Engine::fused ? fused::coupled_block(options_, passed, rows, &taken)
                                    : operators::block(options_, passed, rows, nullptr, &taken);
  }
  const Mamba2Layer& own = layers_[static_cast<std::size_t>(layer)];
  const std::int64_t head = channel / options_.head_width();
  const auto rate =
      own.A_log.defined() ? -torch::exp(own.A_log.to(torch::kFloat64)[head]) : torch::zeros({}, torch::kFloat64);
  return channel_trace(
      options_.coupling, own.coupling, channel,
      {taken.x.narrow(-1, channel, 1), taken.dt.narrow(-1, head, 1), taken.B, rate.expand({options_.d_state})},
      engine_);
}

std::vector<FilterData::Layer> Mamba2::filters() {
  std::vector<FilterData::Layer> layers;
  for (const Mamba2Layer& layer : layers_) {
    auto& filters = layers.emplace_back();
    const auto add_filter = [&](const char* name, const at::Tensor& taps, const at::Tensor& bias) {
      if (taps.defined()) filters.push_back({name, plain_tensor(taps), plain_tensor(bias)});
    };
    add_filter("x", layer.conv_x, layer.conv_x_bias);
    add_filter("B", layer.conv_B, layer.conv_B_bias);
    add_filter("C", layer.conv_C, layer.conv_C_bias);
  }
  return layers;
}

}  // namespace mambarium
