// The kernels as LibTorch functions: output and every gradient against plain operators with autograd in float64.
#include <torch/torch.h>

#include <QTest>

#include "core/bench/scan_operators.h"
#include "core/models/kernel_functions.h"

using namespace mambarium;

namespace {

using Tensors = std::vector<at::Tensor>;
using Function = std::function<Tensors(const Tensors&)>;

// Outputs, and gradients of all inputs for a fixed mixture of the outputs.
Tensors everything(const Function& function, const Tensors& inputs, at::ScalarType type) {
  Tensors leaves;
  for (const auto& input : inputs) leaves.push_back(input.detach().to(type).requires_grad_(true));
  Tensors results = function(leaves);
  at::Tensor mixture = torch::zeros({}, type);
  for (const auto& output : results) {
    const auto weights = torch::cos(torch::arange(output.numel(), torch::kFloat64) * 1.7).to(torch::kFloat32);
    mixture = mixture + (output.flatten() * weights.to(type)).sum();
  }
  mixture.backward();
  for (auto& result : results) result = result.detach();
  for (const auto& leaf : leaves) results.push_back(leaf.grad().defined() ? leaf.grad() : torch::zeros_like(leaf));
  return results;
}

double largest_difference(const Function& kernel, const Function& operators, const Tensors& inputs) {
  const auto found = everything(kernel, inputs, torch::kFloat32);
  const auto expected = everything(operators, inputs, torch::kFloat64);
  double largest = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    const double scale = expected[i].abs().max().item<double>();
    const double off = (found[i].to(torch::kFloat64) - expected[i]).abs().max().item<double>();
    const double difference = off == 0 ? 0 : off / scale;
    if (!(difference <= largest)) largest = difference;  // NaN as well
  }
  return largest;
}

at::Tensor normal(at::IntArrayRef sizes) {
  return torch::randn(sizes);
}
at::Tensor uniform(at::IntArrayRef sizes) {
  return torch::rand(sizes);
}

template <class Call>
QString refusal(const Call& call) {
  try {
    call();
  } catch (const std::exception& error) {
    return QString::fromUtf8(error.what());
  }
  return {};
}

}  // namespace

class TestKernelFunctions : public QObject {
  Q_OBJECT

 private Q_SLOTS:
  void init() { torch::manual_seed(11); }

  void selective_scan() {
    for (const auto& [b, T, H, P, N, groups] :
         std::vector<std::array<std::int64_t, 6>>{{2, 37, 3, 5, 7, 1}, {1, 1, 1, 1, 1, 1}, {2, 70, 4, 16, 40, 2}}) {
      const Tensors inputs{normal({b, T, H, P}),       uniform({b, T, H}),         uniform({b, T, H}).pow(0.1),
                           normal({b, T, groups * N}), normal({b, T, groups * N}), normal({b, H, P, N})};
      const auto kernel = [&, count = groups](const Tensors& in) -> Tensors {
        const auto result = fused::selective_scan(in[0], in[1], in[2], in[3], in[4], in[5], count, 2);
        return {result.y, result.state};
      };
      const auto plain = [&, count = groups, heads = H / groups, d_state = N](const Tensors& in) -> Tensors {
        Tensors y, state;
        for (std::int64_t group = 0; group < count; ++group) {
          const auto of = [&](const at::Tensor& tensor, std::int64_t dimension, std::int64_t width) {
            return tensor.narrow(dimension, group * width, width);
          };
          const auto result =
              operators::selective_scan(of(in[0], 2, heads), of(in[1], 2, heads), of(in[2], 2, heads),
                                        of(in[3], 2, d_state), of(in[4], 2, d_state), of(in[5], 1, heads));
          y.push_back(result.y);
          state.push_back(result.state);
        }
        return {torch::cat(y, 2), torch::cat(state, 1)};
      };
      const double difference = largest_difference(kernel, plain, inputs);
      QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
    }
  }

  void diagonal_scan() {
    for (const auto& [b, T, D, N] :
         std::vector<std::array<std::int64_t, 4>>{{2, 37, 5, 7}, {1, 1, 1, 1}, {3, 50, 40, 16}}) {
      const Tensors inputs{normal({b, T, D}), uniform({b, T, D}), normal({b, T, N}), normal({b, T, N}),
                           -3 * uniform({D, N})};
      const double difference = largest_difference(
          [](const Tensors& in) -> Tensors {
            return {fused::diagonal_scan(in[0], in[1], in[2], in[3], in[4], {}, 2).y};
          },
          [](const Tensors& in) -> Tensors { return {operators::diagonal_scan(in[0], in[1], in[2], in[3], in[4])}; },
          inputs);
      QVERIFY2(difference <= 2e-5, qPrintable(QString::number(difference)));
    }
    // The second half, from the state after the first, is the second half of the whole.
    const auto x = normal({2, 20, 6}), dt = uniform({2, 20, 6}), B = normal({2, 20, 3}), A = -uniform({6, 3});
    const auto part = [&](std::int64_t first, std::int64_t count, const at::Tensor& h0) {
      const auto of = [&](const at::Tensor& tensor) { return tensor.narrow(1, first, count); };
      return fused::diagonal_scan(of(x), of(dt), of(B), of(B), A, h0);
    };
    const auto whole = part(0, 20, {});
    const auto second = part(8, 12, part(0, 8, {}).state);
    QVERIFY(torch::allclose(second.y, whole.y.narrow(1, 8, 12), 1e-5, 1e-6));
    QVERIFY(torch::allclose(second.state, whole.state, 1e-5, 1e-6));
  }

  void causal_convolution() {
    for (const Activation activation : {Activation::none, Activation::silu}) {
      for (const std::int64_t window : {1, 2, 4, 9}) {
        const Tensors inputs{normal({3, 21, 10}), normal({10, window}), normal({10})};
        const double difference = largest_difference(
            [&](const Tensors& in) -> Tensors {
              return {fused::causal_convolution(in[0], in[1], in[2], activation, 2)};
            },
            [&](const Tensors& in) -> Tensors {
              return {operators::activate(operators::causal_convolution(in[0], in[1], in[2]), activation)};
            },
            inputs);
        QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
      }
    }
  }

  void rms_norm() {
    const auto norm = [](const at::Tensor& v, std::int64_t groups) {
      const auto grouped = v.unflatten(-1, {groups, v.size(-1) / groups});
      return (grouped * torch::rsqrt(grouped.square().mean(-1, true) + 1e-5)).flatten(-2);
    };
    for (const std::int64_t groups : {1, 3}) {
      const Tensors plain{normal({2, 5, 12}), normal({12})},
          gated{normal({2, 5, 12}), normal({12}), normal({2, 5, 12})};
      QVERIFY(largest_difference(
                  [&](const Tensors& in) -> Tensors { return {fused::rms_norm(in[0], in[1], {}, groups)}; },
                  [&](const Tensors& in) -> Tensors { return {norm(in[0], groups) * in[1]}; }, plain) <= 1e-5);
      QVERIFY(largest_difference(
                  [&](const Tensors& in) -> Tensors { return {fused::rms_norm(in[0], in[1], in[2], groups)}; },
                  [&](const Tensors& in) -> Tensors { return {norm(in[0] * torch::silu(in[2]), groups) * in[1]}; },
                  gated) <= 1e-5);
      QVERIFY(largest_difference(
                  [&](const Tensors& in) -> Tensors { return {fused::rms_norm(in[0], in[1], in[2], groups, true)}; },
                  [&](const Tensors& in) -> Tensors { return {norm(in[0], groups) * in[1] * torch::silu(in[2])}; },
                  gated) <= 1e-5);
    }
  }

  void softmax_cross_entropy() {
    const auto targets = torch::tensor({3, 0, 16, -1, 7}, torch::kInt64);
    const Tensors inputs{3 * normal({5, 20})};
    const double difference = largest_difference(
        [&](const Tensors& in) -> Tensors { return {fused::softmax_cross_entropy(in[0], targets, 17, 2)}; },
        [&](const Tensors& in) -> Tensors {
          namespace F = torch::nn::functional;
          return {F::cross_entropy(in[0].narrow(1, 0, 17), targets, F::CrossEntropyFuncOptions().ignore_index(-1))};
        },
        inputs);
    QVERIFY2(difference <= 1e-5, qPrintable(QString::number(difference)));
  }

  void what_does_not_fit_is_said() {
    const auto x = torch::zeros({2, 4, 3, 5}), dt = torch::zeros({2, 4, 3}), B = torch::zeros({2, 4, 6});
    QVERIFY(refusal([&] { fused::selective_scan(x, dt, dt, B, B, {}, 2); }).contains("2 groups do not divide 3 heads"));
    QVERIFY(refusal([&] { fused::selective_scan(x, B, dt, B, B); }).contains("dt: expected float32 [2, 4, 3]"));
    QVERIFY(refusal([&] { fused::rms_norm(dt, torch::ones({4})); }).contains("weight: expected float32 [3]"));
    QVERIFY(refusal([&] {
              fused::softmax_cross_entropy(torch::zeros({2, 3}), torch::tensor({0, 2}, torch::kInt64), 2);
            }).contains("target"));
  }
};

QTEST_GUILESS_MAIN(TestKernelFunctions)
#include "test_kernel_functions.moc"
