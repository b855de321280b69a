#include "core/models/mamba2.h"

#include <cmath>
#include <sstream>
#include <stdexcept>

#include "core/models/mamba2_kernels.h"
#include "core/models/mamba2_operators.h"
#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

struct Mamba2State final : ModelState {
  std::int64_t batch = 0;
  std::vector<operators::LayerState> layers;

  std::unique_ptr<ModelState> clone() const override {
    auto copy = std::make_unique<Mamba2State>(*this);
    for (auto& layer : copy->layers) {
      for (at::Tensor* tensor : {&layer.past_x, &layer.past_B, &layer.past_C, &layer.h}) {
        *tensor = tensor->defined() ? tensor->clone() : at::Tensor();
      }
    }
    return copy;
  }

  std::vector<at::Tensor> hidden() const override {
    std::vector<at::Tensor> numbers;
    for (const auto& layer : layers) numbers.push_back(layer.h);
    return numbers;
  }

  std::vector<at::Tensor> windows() const override {
    std::vector<at::Tensor> numbers;
    for (const auto& layer : layers) {
      for (const at::Tensor& past : {layer.past_x, layer.past_B, layer.past_C}) {
        if (past.defined() && past.numel() > 0) numbers.push_back(past);
      }
    }
    return numbers;
  }
};

Tensor plain(const at::Tensor& tensor, std::vector<std::int64_t> empty_shape = {0}) {
  if (!tensor.defined()) {
    return {std::move(empty_shape), {}};
  }
  const auto numbers = tensor.detach().to(torch::kFloat32).contiguous();
  const float* data = numbers.data_ptr<float>();
  return {tensor.sizes().vec(), std::vector<float>(data, data + numbers.numel())};
}

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
  embedding_ = add("embedding.weight", draw.normal("embedding.weight", {options_.states, options_.d_model}, deviation));
  for (std::int64_t index = 0; index < options_.layers; ++index) {
    add_layer(draw, "layers." + std::to_string(index) + ".");
  }
  if (options_.norm) {
    final_norm_ = add("final_norm.weight", draw.constant({options_.d_model}, 1));
  }
  lm_head_ = add("lm_head.weight", draw.normal("lm_head.weight", {options_.states, options_.d_model}, deviation), true);
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
    if (on) {
      const std::string name = prefix + "conv." + part;
      const double bound = 1.0 / std::sqrt(static_cast<double>(options_.d_conv));
      weight = add(name + ".weight", draw.uniform(name + ".weight", {channels, options_.d_conv}, bound));
      bias = add(name + ".bias", draw.uniform(name + ".bias", {channels}, bound));
    }
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

void Mamba2::check_tokens(const at::Tensor& tokens, std::int64_t dimensions, const char* what) const {
  std::ostringstream problem;
  if (tokens.scalar_type() != torch::kInt64 || tokens.dim() != dimensions || tokens.numel() == 0) {
    problem << what << ": expected a non-empty int64 tensor of " << dimensions << " dimensions, got "
            << tokens.toString() << " " << tokens.sizes();
    throw std::invalid_argument(problem.str());
  }
  const auto [least, greatest] = torch::aminmax(tokens);
  if (least.item<std::int64_t>() < 0 || greatest.item<std::int64_t>() >= options_.states) {
    problem << what << ": holds a token outside 0 to " << options_.states - 1 << " (found "
            << least.item<std::int64_t>() << " to " << greatest.item<std::int64_t>() << ")";
    throw std::invalid_argument(problem.str());
  }
}

at::Tensor Mamba2::last_rows(const at::Tensor& tokens) {
  auto u = torch::embedding(embedding_, tokens);
  for (const Mamba2Layer& layer : layers_) {
    u = engine_ == Engine::fused ? fused::block(options_, layer, u) : operators::block(options_, layer, u);
  }
  return u;
}

at::Tensor Mamba2::read_out(const at::Tensor& u) const {
  const auto normed = options_.norm ? operators::layer_norm(u, final_norm_) : u;
  return operators::read_out(torch::linear(normed, lm_head_), options_.readout);
}

WholeModelPlan Mamba2::whole_model_plan(std::int64_t batch, std::int64_t length) const {
  return fused::whole_model_plan(options_, {embedding_, layers_, final_norm_, lm_head_}, parameters_, batch, length);
}

at::Tensor Mamba2::log_probabilities(const at::Tensor& tokens) {
  check_tokens(tokens, 2, "tokens");
  return read_out(last_rows(tokens));
}

at::Tensor Mamba2::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  check_tokens(tokens, 2, "tokens");
  check_tokens(targets, 2, "targets");
  if (targets.sizes() != tokens.sizes()) {
    std::ostringstream problem;
    problem << "targets: expected the shape of tokens " << tokens.sizes() << ", got " << targets.sizes();
    throw std::invalid_argument(problem.str());
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
  auto state = std::make_unique<Mamba2State>();
  state->batch = batch;
  state->layers.resize(layers_.size());
  return state;
}

at::Tensor Mamba2::step(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 1, "tokens");
  auto* own = dynamic_cast<Mamba2State*>(&state);
  if (own == nullptr || own->layers.size() != layers_.size() || own->batch != tokens.size(0)) {
    throw std::invalid_argument("state: not one that initial_state(" + std::to_string(tokens.size(0)) +
                                ") of this model returned");
  }
  auto u = torch::embedding(embedding_, tokens.unsqueeze(1));
  for (std::size_t index = 0; index < layers_.size(); ++index) {
    u = operators::block(options_, layers_[index], u, &own->layers[index]);
  }
  return read_out(u.select(1, 0));
}

Tensor Mamba2::decay_factors(std::span<const std::int32_t> tokens) {
  const torch::NoGradGuard no_gradients;
  const auto row = torch::tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end()), torch::kInt64).unsqueeze(0);
  check_tokens(row, 2, "tokens");
  auto u = torch::embedding(embedding_, row);
  std::vector<at::Tensor> decays;
  for (const Mamba2Layer& layer : layers_) {
    operators::ScanInputs taken;
    u = operators::block(options_, layer, u, nullptr, &taken);
    decays.push_back(taken.decay);
  }
  return plain(torch::cat(decays, 0).transpose(1, 2));
}

std::pair<at::Tensor, at::Tensor> Mamba2::projections(const at::Tensor& tokens, std::int64_t layer) {
  const torch::NoGradGuard no_gradients;
  check_tokens(tokens, 2, "tokens");
  auto u = torch::embedding(embedding_, tokens);
  operators::ScanInputs taken;
  for (std::int64_t index = 0; index <= layer; ++index) {
    u = operators::block(options_, layers_.at(static_cast<std::size_t>(index)), u, nullptr, &taken);
  }
  return {taken.B, taken.C};
}

std::vector<FilterData::Layer> Mamba2::filters() {
  std::vector<FilterData::Layer> filters;
  for (const Mamba2Layer& layer : layers_) {
    filters.push_back({plain(layer.conv_x, {0, options_.d_conv}), plain(layer.conv_B, {0, options_.d_conv}),
                       plain(layer.conv_C, {0, options_.d_conv}), plain(layer.conv_x_bias), plain(layer.conv_B_bias),
                       plain(layer.conv_C_bias)});
  }
  return filters;
}

}  // namespace mambarium
