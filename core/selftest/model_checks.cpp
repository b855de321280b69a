#include "core/selftest/model_checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <span>

#include "core/models/mamba2.h"
#include "core/models/parameter.h"
#include "core/selftest/checks.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

double largest(const at::Tensor& tensor) {
  return tensor.abs().max().item<double>();
}

// Initial weights are so small that errors would hide behind them.
void enlarge(SequenceModel& model) {
  const torch::NoGradGuard no_gradients;
  double salt = 0;
  for (Parameter& parameter : model.parameters()) {
    const auto steps = torch::arange(parameter.tensor.numel(), torch::kFloat64).reshape(parameter.tensor.sizes());
    const auto enlarged = parameter.tensor.to(torch::kFloat64) + 0.1 * torch::sin(steps * 1.7 + ++salt);
    parameter.tensor.copy_(enlarged.to(torch::kFloat32).to(parameter.tensor.scalar_type()));
  }
}

std::string kernel_of(const std::string& parameter) {
  const auto has = [&](const char* word) { return parameter.find(word) != std::string::npos; };
  if (has("norm")) return "gradients of the layer norms";
  if (has("conv")) return "gradients of the convolution";
  if (has("dt_bias") || has("A_log")) return "gradients of the decay";
  if (has(".D")) return "gradients of the skip";
  if (has("mlp")) return "gradients of the MLP";
  if (has("proj")) return "gradients of the projections";
  return has("embedding") ? "gradients of the embedding" : "gradients of the read-out";
}

// Smooth ones: at the kinks of a ReLU or of the L1 read-out the last bit of a float decides between two gradients.
std::vector<Mamba2Options> model_options() {
  std::vector<Mamba2Options> all(8);
  all[1].conv_x = all[1].conv_B = all[1].conv_C = false;
  all[2].layers = 2;
  all[2].headdim = 4;
  all[2].skip = true;
  all[3].gate = false;
  all[3].mlp = Mlp::plain;
  all[4].activation = Activation::none;
  all[4].gate = false;
  all[4].mlp = Mlp::none;
  all[4].norm = false;
  all[5].learned_decay = false;
  all[5].d_conv = 5;
  all[6].states = 5;
  all[6].d_model = 12;
  all[6].d_state = 24;
  all[7].d_conv = 1;
  all[7].d_state = 3;
  return all;
}

using Results = std::map<std::string, at::Tensor>;

struct Batch {
  at::Tensor tokens, targets;
};

Batch random_batch(std::int64_t states, std::int64_t batch, std::int64_t length) {
  auto generator = at::detail::createCPUGenerator(11);
  const auto draw = [&] { return torch::randint(0, states, {batch, length}, generator, torch::kInt64); };
  const auto tokens = draw(), targets = draw();
  return {tokens, targets};
}

Results results_of(const Mamba2Options& options, Engine engine, Precision precision, const Batch& batch) {
  Mamba2 model(options, engine, precision);
  enlarge(model);
  const auto& [tokens, targets] = batch;
  Results results;
  results["log p"] = model.log_probabilities(tokens).detach();
  const auto loss = model.loss(tokens, targets);
  results["loss"] = loss.detach();
  loss.backward();
  for (const Parameter& parameter : model.parameters()) {
    const auto& gradient = parameter.tensor.grad();  // undefined where nothing depends on it: decays of one token
    results[parameter.name] = gradient.defined() ? gradient : torch::zeros_like(parameter.tensor);
  }
  return results;
}

void add_results(Checks& checks, const Results& found, const Results& expected, const Results& of_torch) {
  double largest_gradient = 0;
  for (const auto& [name, tensor] : expected) {
    if (name != "log p" && name != "loss") largest_gradient = std::max(largest_gradient, largest(tensor));
  }
  for (const auto& [name, tensor] : found) {
    const bool is_result = name == "log p" || name == "loss";
    const double floor = 1e-2 * largest_gradient;  // 2e-5 of it are three units in the last place of the largest
    checks.add(is_result ? name : kernel_of(name), difference(tensor, expected.at(name), floor),
               difference(of_torch.at(name), expected.at(name), floor));
  }
}

// A model whose steps somebody else takes.
struct Stepped {
  Stepped(const Mamba2Options& options, const StepFactory& make_step, const Batch& batch)
      : model(options, Engine::fused, Precision::float32), optimiser({.weight_decay = 0.1}, sizes_of(model)) {
    enlarge(model);
    step = make_step(model, optimiser, batch.tokens.size(0), batch.tokens.size(1));
  }
  static std::vector<std::size_t> sizes_of(Mamba2& model) {
    std::vector<std::size_t> sizes;
    for (const auto& parameter : model.parameters())
      sizes.push_back(static_cast<std::size_t>(parameter.tensor.numel()));
    return sizes;
  }
  BatchLoss fetched_gradient(const Batch& batch) const {
    const BatchLoss loss = step->gradient(batch.tokens, batch.targets);
    step->fetch();
    return loss;
  }

  Mamba2 model;
  AdamW optimiser;
  std::unique_ptr<TrainingStep> step;
};

std::vector<SelftestCheck> check_gradients(const StepFactory& make_step, const std::string& instructions,
                                           const std::string& path, const std::vector<Mamba2Options>& all,
                                           const std::vector<std::int64_t>& lengths) {
  Checks checks(path);
  for (const Mamba2Options& options : all) {
    for (const std::int64_t length : lengths) {
      const Batch batch = random_batch(options.states, 5, length);
      Stepped stepped(options, make_step, batch);
      const BatchLoss loss = stepped.fetched_gradient(batch);
      Results found{{"loss", torch::full({}, loss.loss, torch::kFloat64)}};
      double squares = 0;
      for (const Parameter& parameter : stepped.model.parameters()) {
        found[parameter.name] = parameter.tensor.grad();
        squares += parameter.tensor.grad().to(torch::kFloat64).square().sum().item<double>();
      }
      add_results(checks, found, results_of(options, Engine::torch, Precision::float64, batch),
                  results_of(options, Engine::torch, Precision::float32, batch));
      checks.add("norm of the gradient", std::abs(loss.norm / std::sqrt(squares) - 1));
    }
  }
  return checks.all(instructions);
}

// Against the formula in float64, with the step's own gradients, which are clipped.
std::vector<SelftestCheck> check_updates(const StepFactory& make_step, const std::string& instructions) {
  Checks checks("optimiser");
  Mamba2Options options;
  options.conv_B = false;
  const Batch batch = random_batch(options.states, 5, 70);
  Stepped stepped(options, make_step, batch);
  const AdamWOptions& adamw = stepped.optimiser.options();
  auto& parameters = stepped.model.parameters();
  std::vector<at::Tensor> exact, first, second;
  for (const Parameter& parameter : parameters) {
    exact.push_back(parameter.tensor.detach().to(torch::kFloat64));
    first.push_back(torch::zeros_like(exact.back()));
    second.push_back(torch::zeros_like(exact.back()));
  }
  for (int number = 1; number <= 4; ++number) {
    constexpr double rate = 2e-3, highest_norm = 0.1;
    const double factor = highest_norm / (stepped.fetched_gradient(batch).norm + 1e-6);
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto gradient = parameters[i].tensor.grad().to(torch::kFloat64) * std::min(factor, 1.0);
      first[i] = adamw.beta1 * first[i] + (1 - adamw.beta1) * gradient;
      second[i] = adamw.beta2 * second[i] + (1 - adamw.beta2) * gradient.square();
      const auto mean = first[i] / (1 - std::pow(adamw.beta1, number));
      const auto deviation = (second[i] / (1 - std::pow(adamw.beta2, number))).sqrt();
      const double decay = parameters[i].decayed ? adamw.weight_decay : 0;
      exact[i] = exact[i] - rate * (decay * exact[i] + mean / (deviation + adamw.epsilon));
    }
    stepped.step->update(number, rate, highest_norm);
    stepped.step->fetch();
    for (std::size_t i = 0; i < parameters.size(); ++i) {
      const auto moment = [&](std::span<float> numbers) {
        return torch::from_blob(numbers.data(), first[i].sizes(), torch::kFloat32);
      };
      checks.add("AdamW, weights", difference(parameters[i].tensor.detach(), exact[i], 1e-6));
      checks.add("AdamW, moments", difference(moment(stepped.optimiser.first_moment(i)), first[i], 1e-12));
      checks.add("AdamW, moments", difference(moment(stepped.optimiser.second_moment(i)), second[i], 1e-18));
    }
  }
  return checks.all(instructions);
}

}  // namespace

double difference(const at::Tensor& found, const at::Tensor& expected, double floor) {
  return largest(found.to(torch::kFloat64) - expected) / std::max(largest(expected), floor);
}

std::vector<SelftestCheck> check_model(const std::string& instructions, const std::string& path, std::int64_t batch) {
  Checks checks(path);
  for (const Mamba2Options& options : model_options()) {
    const Batch drawn = random_batch(options.states, batch, 83);
    add_results(checks, results_of(options, Engine::fused, Precision::float32, drawn),
                results_of(options, Engine::torch, Precision::float64, drawn),
                results_of(options, Engine::torch, Precision::float32, drawn));
  }
  return checks.all(instructions);
}

std::vector<SelftestCheck> check_step(const StepFactory& make_step, const std::string& instructions) {
  std::vector<Mamba2Options> smooth = model_options(), l1(1);
  smooth.emplace_back().states = 3;
  smooth.back().d_conv = 4;
  l1[0].states = 5;
  l1[0].readout = Readout::l1;
  l1[0].seed = 3;  // no logit of these tokens is next to the kink
  auto all = check_gradients(make_step, instructions, "whole model", smooth, {1, 7, 70, 512});
  for (const auto& more : {check_gradients(make_step, instructions, "L1 read-out", l1, {1, 7, 70}),
                           check_updates(make_step, instructions)}) {
    all.insert(all.end(), more.begin(), more.end());
  }
  return all;
}

}  // namespace mambarium
