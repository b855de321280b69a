#include "core/selftest/gpu_checks.h"

#include <algorithm>
#include <iterator>

#include "core/models/operators.h"
#include "core/selftest/checks.h"
#include "core/selftest/model_checks.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using Tensors = std::vector<at::Tensor>;

struct KernelCheck {
  std::string path;
  std::vector<std::string> names;             // of the inputs but the last
  at::Tensor (*expected)(const Tensors& of);  // the result of all inputs but the last
  TensorKernel kernel = nullptr;
};

// The result and the gradients of the inputs, in `type`.
Tensors with_operators(const KernelCheck& check, const Tensors& inputs, at::ScalarType type) {
  Tensors leaves;
  for (const auto& input : inputs) leaves.push_back(input.to(type).detach().requires_grad_(true));
  const auto incoming = leaves.back().detach();
  leaves.pop_back();
  Tensors all{check.expected(leaves)};
  const auto gradients = torch::autograd::grad({all[0]}, leaves, {incoming}, {}, false, true);
  for (std::size_t i = 0; i < leaves.size(); ++i) {  // undefined: nothing depends on it, as on decays of one token
    all.push_back(gradients[i].defined() ? gradients[i] : torch::zeros_like(leaves[i]));
  }
  all[0] = all[0].detach();
  return all;
}

std::vector<SelftestCheck> compare(const KernelCheck& check, const std::vector<Tensors>& cases,
                                   const std::string& instructions) {
  Checks checks(check.path);
  for (const Tensors& inputs : cases) {
    const Tensors expected = with_operators(check, inputs, torch::kFloat64);
    const Tensors of_torch = with_operators(check, inputs, torch::kFloat32);
    Tensors found;
    for (const auto& tensor : expected) found.push_back(torch::full(tensor.sizes(), NAN, torch::kFloat32));
    check.kernel(inputs, found);
    for (std::size_t i = 0; i < found.size(); ++i) {
      checks.add(i == 0 ? "result" : "gradient of " + check.names[i - 1], difference(found[i], expected[i], 1e-6),
                 difference(of_torch[i], expected[i], 1e-6));
    }
  }
  return checks.all(instructions);
}

at::Tensor selective_scan(const Tensors& of) {
  const auto& [x, dt, a, B, C] = std::tie(of[0], of[1], of[2], of[3], of[4]);
  const auto by_head = x.unflatten(2, {dt.size(2), x.size(2) / dt.size(2)});
  return operators::selective_scan(by_head, dt, a, B, C).y.flatten(2);
}

at::Tensor diagonal_scan(const Tensors& of) {
  const auto& [x, dt, A, B, C] = std::tie(of[0], of[1], of[2], of[3], of[4]);
  const auto decays = torch::exp(dt.unsqueeze(3) * A), inputs = (dt * x).unsqueeze(3) * B.unsqueeze(2);
  auto state = torch::zeros_like(inputs.select(1, 0));
  Tensors rows;
  for (std::int64_t t = 0; t < x.size(1); ++t) {
    state = decays.select(1, t) * state + inputs.select(1, t);
    rows.push_back((state * C.select(1, t).unsqueeze(1)).sum(2));
  }
  return torch::stack(rows, 1);
}

at::Tensor causal_convolution(const Tensors& of) {
  return torch::silu(operators::causal_convolution(of[0], of[1], of[2]));
}

// Ordinary decays, tiny ones, and one in ten exactly 0: what a model learns at switch tokens.
at::Tensor decays(at::IntArrayRef sizes, at::Generator generator) {
  auto a = torch::rand(sizes, generator).pow(0.1);
  a = torch::where(torch::rand(sizes, generator) < 0.1, torch::full_like(a, 1e-30), a);
  return torch::where(torch::rand(sizes, generator) < 0.1, torch::zeros_like(a), a);
}

}  // namespace

std::vector<SelftestCheck> check_tensor_kernels(const TensorKernels& kernels, const std::string& instructions) {
  auto generator = at::detail::createCPUGenerator(5);
  const auto normal = [&](at::IntArrayRef sizes) { return torch::randn(sizes, generator); };
  const auto uniform = [&](at::IntArrayRef sizes) { return torch::rand(sizes, generator); };
  std::vector<Tensors> scans, diagonal_scans, convolutions;
  for (const auto& [batch, length, heads, headdim, d_state] :
       {std::tuple{2, 1, 1, 16, 16}, {3, 7, 2, 4, 5}, {2, 300, 1, 16, 8}, {2, 513, 3, 5, 24}, {2, 130, 1, 1, 100}}) {
    const auto rows = [&, b = batch, l = length](std::int64_t width) { return std::vector<std::int64_t>{b, l, width}; };
    const std::int64_t inner = heads * headdim;
    scans.push_back({normal(rows(inner)), uniform(rows(heads)), decays(rows(heads), generator), normal(rows(d_state)),
                     normal(rows(d_state)), normal(rows(inner))});
    diagonal_scans.push_back({normal(rows(inner)), uniform(rows(inner)), -10 * uniform({inner, d_state}).square(),
                              normal(rows(d_state)), normal(rows(d_state)), normal(rows(inner))});
    convolutions.push_back({normal(rows(inner)), normal({inner, heads + 1}), normal({inner}), normal(rows(inner))});
  }
  auto all = compare({"scan", {"x", "dt", "a", "B", "C"}, selective_scan, kernels.selective_scan}, scans, instructions);
  const auto add = [&](const KernelCheck& check, const std::vector<Tensors>& cases) {
    std::ranges::copy(compare(check, cases, instructions), std::back_inserter(all));
  };
  add({"Mamba-1 scan", {"x", "dt", "A", "B", "C"}, diagonal_scan, kernels.diagonal_scan}, diagonal_scans);
  add({"convolution", {"input", "taps", "bias"}, causal_convolution, kernels.causal_convolution}, convolutions);
  return all;
}

}  // namespace mambarium
