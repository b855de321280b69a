#include "core/selftest/selftest.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>

#include "core/kernels/selective_scan.h"
#include "core/kernels/simd.h"
#include "core/selftest/checks.h"
#include "core/selftest/gpu_checks.h"
#include "core/selftest/kernel_checks.h"
#include "core/selftest/model_checks.h"
#include "core/torch_precompiled.h"
#include "core/training/adamw.h"

namespace mambarium {

namespace {

// x, dt, a, B, C, dy and room for y, dx, ddt, da, dB, dC.
struct ScanNumbers {
  std::vector<at::Tensor> inputs, outputs;

  ScanNumbers to(at::ScalarType type) const {
    ScanNumbers other;
    for (const auto& tensor : inputs) other.inputs.push_back(tensor.to(type));
    for (const auto& tensor : outputs) other.outputs.push_back(torch::empty_like(tensor, type));
    return other;
  }
};

ScanNumbers scan_numbers(const kernels::ScanShape& s, std::uint64_t seed) {
  auto generator = at::detail::createCPUGenerator(seed);
  const auto normal = [&](std::int64_t width) { return torch::randn({s.batch, s.length, width}, generator); };
  const auto uniform = [&](std::int64_t width) { return torch::rand({s.batch, s.length, width}, generator); };
  const std::int64_t inner = s.heads * s.headdim;
  ScanNumbers numbers;
  // Ordinary decays, tiny ones, and one in ten exactly 0: what a model learns at switch tokens.
  auto a = uniform(s.heads).pow(0.1);
  a = torch::where(uniform(s.heads) < 0.1, torch::full_like(a, 1e-30), a);
  a = torch::where(uniform(s.heads) < 0.1, torch::zeros_like(a), a);
  numbers.inputs = {normal(inner), uniform(s.heads), a, normal(s.d_state), normal(s.d_state), normal(inner)};
  for (const std::size_t like : {0, 0, 1, 2, 3, 4}) numbers.outputs.push_back(torch::empty_like(numbers.inputs[like]));
  return numbers;
}

template <class Real>
void scan(const kernels::ScanShape& shape, const ScanNumbers& numbers) {
  const auto rows = [](const at::Tensor& tensor) {
    return kernels::Rows<Real>{tensor.data_ptr<Real>(), tensor.size(1) * tensor.size(2), tensor.size(2)};
  };
  const auto& in = numbers.inputs;
  const auto& out = numbers.outputs;
  const kernels::ScanInputs<Real> inputs{rows(in[0]), rows(in[1]), rows(in[2]), rows(in[3]), rows(in[4])};
  const kernels::ScanGradients<Real> gradients{rows(out[1]), rows(out[2]), rows(out[3]), rows(out[4]), rows(out[5])};
  if constexpr (std::is_same_v<Real, double>) {
    kernels::selective_scan_reference<double>(shape, inputs, rows(out[0]), nullptr);
    kernels::selective_scan_backward_reference<double>(shape, inputs, rows(in[5]), nullptr, gradients);
  } else {
    kernels::selective_scan(shape, inputs, rows(out[0]), nullptr, 1);
    kernels::selective_scan_backward(shape, inputs, rows(in[5]), nullptr, gradients, 1);
  }
}

std::vector<SelftestCheck> check_scan(const std::string& instructions) {
  static constexpr const char* names[] = {
      "y", "gradient of x", "gradient of dt", "gradient of a", "gradient of B", "gradient of C"};
  Checks checks("scan");
  constexpr kernels::ScanShape shapes[] = {{2, 1, 1, 16, 16},  {3, 7, 2, 4, 5},     {1, 300, 1, 16, 8},
                                           {2, 513, 3, 5, 24}, {1, 2048, 1, 32, 3}, {2, 130, 1, 1, 100}};
  std::uint64_t seed = 0;
  for (const auto& shape : shapes) {
    const ScanNumbers found = scan_numbers(shape, ++seed);
    const ScanNumbers expected = found.to(torch::kFloat64);
    scan<float>(shape, found);
    scan<double>(shape, expected);
    for (std::size_t i = 0; i < found.outputs.size(); ++i) {
      checks.add(names[i], difference(found.outputs[i], expected.outputs[i], 1e-6));
    }
  }
  return checks.all(instructions);
}

std::vector<SelftestCheck> check_optimiser(const std::string& instructions) {
  Checks checks("optimiser");
  constexpr std::size_t count = 1000;
  const AdamWOptions options{.weight_decay = 1e-3};
  AdamW optimiser(options, std::vector<std::size_t>{count});
  std::vector<float> values(count), gradients(count);
  std::vector<double> exact(count), first(count), second(count);
  for (std::size_t i = 0; i < count; ++i) exact[i] = values[i] = static_cast<float>(std::sin(static_cast<double>(i)));
  for (int step = 1; step <= 20; ++step) {
    constexpr double rate = 2e-3, factor = 0.7;
    for (std::size_t i = 0; i < count; ++i) gradients[i] = static_cast<float>(std::cos(static_cast<double>(step * i)));
    optimiser.step(std::vector<OptimisedBuffer>{{values, gradients, true}}, step, rate, factor);
    for (std::size_t i = 0; i < count; ++i) {
      const double gradient = static_cast<double>(gradients[i]) * factor;
      first[i] = options.beta1 * first[i] + (1 - options.beta1) * gradient;
      second[i] = options.beta2 * second[i] + (1 - options.beta2) * gradient * gradient;
      const double mean = first[i] / (1 - std::pow(options.beta1, step));
      const double deviation = std::sqrt(second[i] / (1 - std::pow(options.beta2, step)));
      exact[i] -= rate * (options.weight_decay * exact[i] + mean / (deviation + options.epsilon));
    }
  }
  double worst = 0;
  for (std::size_t i = 0; i < count; ++i) worst = worse(worst, std::abs(static_cast<double>(values[i]) - exact[i]));
  checks.add("AdamW, twenty steps", worst);
  return checks.all(instructions);
}

// Back to the best instructions, whatever happens.
struct Restored {
  ~Restored() { kernels::use_simd_target(""); }
};

}  // namespace

double SelftestCheck::bound() const {
  constexpr double always = 2e-5, times = 4;
  return std::max(always, times * of_torch);
}

std::vector<SelftestCheck> run_selftest(const std::function<void(const SelftestCheck&)>& tell, bool on_gpu) {
  const Restored restored;
  std::vector<SelftestCheck> all;
  const auto add = [&](const std::vector<SelftestCheck>& checks) {
    for (const SelftestCheck& check : checks) {
      if (tell) tell(check);
      all.push_back(check);
    }
  };
  for (const std::string& instructions : kernels::simd_targets()) {
    kernels::use_simd_target(instructions);
    constexpr std::int64_t few = 3, many = 21;
    add(check_scan(instructions));
    add(check_diagonal_scan(instructions));
    add(check_coupled_scan(instructions));
    add(check_rms_norm(instructions));
    add(check_softmax_cross_entropy(instructions));
    add(check_model(instructions, "whole model", many));
    add(check_model(instructions, "blocks", few));
  }
  add(check_optimiser("any"));
  if (on_gpu) {
    add(check_tensor_kernels({selective_scan_on_gpu, diagonal_scan_on_gpu, causal_convolution_on_gpu}, "CUDA"));
    add(check_step(make_gpu_step, "CUDA"));
  }
  return all;
}

nlohmann::json to_json(const std::vector<SelftestCheck>& checks) {
  nlohmann::json all = nlohmann::json::array();
  for (const SelftestCheck& check : checks) {
    const nlohmann::json difference =
        std::isnan(check.difference) ? nlohmann::json() : nlohmann::json(check.difference);
    all.push_back({{"instructions", check.instructions},
                   {"path", check.path},
                   {"what", check.what},
                   {"cases", check.cases},
                   {"difference", difference},
                   {"of_torch", check.of_torch},
                   {"bound", check.bound()},
                   {"passed", check.passed()}});
  }
  return all;
}

}  // namespace mambarium
