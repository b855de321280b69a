#include "core/bench/kernel_cases.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <utility>

#include "core/bench/scan_operators.h"
#include "core/kernels/causal_convolution.h"
#include "core/kernels/layer_norm.h"
#include "core/kernels/rms_norm.h"
#include "core/kernels/softmax_cross_entropy.h"
#include "core/models/operators.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using kernels::Rows;
using kernels::Strided;
using Tensors = std::vector<at::Tensor>;

// Results are the output (a loss: one number) and the gradients of the inputs, in their order.
struct Pair {
  Tensors inputs;
  at::Tensor dout;  // of the output; undefined: the output is a loss
  Tensors fused, torch;
  std::function<void(const Tensors& inputs, const at::Tensor& dout, const Tensors& results)> kernel;
  std::function<at::Tensor(const Tensors& inputs)> operators;
};

class Draw {
 public:
  at::Tensor uniform(at::IntArrayRef sizes) { return torch::rand(sizes, generator_); }
  at::Tensor normal(at::IntArrayRef sizes) { return torch::randn(sizes, generator_); }
  at::Tensor targets(std::int64_t rows, std::int64_t vocabulary) {
    return torch::randint(vocabulary, {rows}, generator_, torch::kInt64);
  }

 private:
  at::Generator generator_ = at::detail::createCPUGenerator(0);
};

Rows<float> rows(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), tensor.stride(0), tensor.stride(1)};
}

Strided<float> strided(const at::Tensor& tensor) {
  return {tensor.data_ptr<float>(), tensor.size(-1)};
}

void call_operators(Pair& pair) {
  pair.torch.clear();
  Tensors leaves;
  for (const at::Tensor& input : pair.inputs) leaves.push_back(input.detach().requires_grad_(true));
  const at::Tensor output = pair.operators(leaves);
  torch::autograd::backward({output}, {pair.dout.defined() ? pair.dout : torch::ones_like(output)});
  pair.torch.push_back(output.detach());
  for (const at::Tensor& leaf : leaves) pair.torch.push_back(leaf.grad());
}

double distance(const at::Tensor& found, const at::Tensor& expected) {
  return ((found - expected).abs().max() / expected.abs().max()).item<double>();
}

void complete(KernelCase& result, Pair given, std::int64_t units, int threads) {
  given.fused.push_back(given.dout.defined() ? torch::empty_like(given.dout) : torch::empty({}));
  for (const at::Tensor& input : given.inputs) given.fused.push_back(torch::empty_like(input));
  const auto pair = std::make_shared<Pair>(std::move(given));
  result.fused.call = [pair] { pair->kernel(pair->inputs, pair->dout, pair->fused); };
  result.torch.call = [pair] { call_operators(*pair); };
  for (Subject* subject : {&result.fused, &result.torch}) {
    subject->tokens = units;
    subject->threads = threads;
  }
  result.difference = [pair, fused = result.fused.call, torch = result.torch.call] {
    fused();
    torch();
    double largest = 0;
    for (std::size_t i = 0; i < pair->fused.size(); ++i) {
      const double off = distance(pair->fused[i], pair->torch[i]);
      if (std::isnan(off)) return off;
      largest = std::max(largest, off);
    }
    return largest;
  };
}

KernelCase convolution_case(const KernelSizes& s) {
  KernelCase result{
      .kernel = "causal convolution, SiLU",
      .shape = fmt::format("C {}, w {}, T {}, B {}", s.convolution_channels, s.window, s.length, s.convolution_batch),
      .operators = "shifted products",
      .unit = "token"};
  Draw draw;
  Pair pair;
  pair.inputs = {draw.normal({s.convolution_batch, s.length, s.convolution_channels}),
                 draw.normal({s.window, s.convolution_channels}), draw.normal({s.convolution_channels})};
  pair.dout = draw.normal(pair.inputs[0].sizes());
  const auto slope = torch::empty_like(pair.dout);
  const kernels::ConvolutionShape shape{s.length, s.convolution_channels, s.window};
  pair.kernel = [shape, slope, batch = s.convolution_batch](const Tensors& in, const at::Tensor& dout,
                                                            const Tensors& out) {
    const float *taps = in[1].data_ptr<float>(), *bias = in[2].data_ptr<float>();
    float *dtaps = out[2].zero_().data_ptr<float>(), *dbias = out[3].zero_().data_ptr<float>();
    for (std::int64_t b = 0; b < batch; ++b) {
      kernels::causal_convolution(shape, rows(in[0]).sequence(b), taps, bias, Activation::silu,
                                  rows(out[0]).sequence(b), rows(slope).sequence(b));
    }
    for (std::int64_t b = 0; b < batch; ++b) {
      kernels::causal_convolution_backward(shape, rows(in[0]).sequence(b), taps, rows(slope).sequence(b),
                                           rows(dout).sequence(b), rows(out[1]).sequence(b), dtaps, dbias);
    }
  };
  pair.operators = [](const Tensors& in) {
    return torch::silu(operators::causal_convolution(in[0], in[1].t(), in[2]));
  };
  const auto channels = static_cast<double>(s.convolution_channels);
  result.flops = (6 * static_cast<double>(s.window) + 9) * channels;
  result.bytes = 4 * 5 * channels;
  complete(result, std::move(pair), s.convolution_batch * s.length, 1);
  return result;
}

std::string norm_shape(const KernelSizes& s) {
  return fmt::format("width {}, {} rows", s.width, s.norm_rows);
}

KernelCase layer_norm_case(const KernelSizes& s) {
  KernelCase result{.kernel = "layer norm", .shape = norm_shape(s), .operators = "layer_norm", .unit = "row"};
  Draw draw;
  Pair pair;
  pair.inputs = {draw.normal({s.norm_rows, s.width}), draw.normal({s.width})};
  pair.dout = draw.normal({s.norm_rows, s.width});
  pair.kernel = [s](const Tensors& in, const at::Tensor& dout, const Tensors& out) {
    const float* weight = in[1].data_ptr<float>();
    kernels::layer_norm(s.norm_rows, s.width, strided(in[0]), weight, strided(out[0]));
    kernels::layer_norm_backward(s.norm_rows, s.width, strided(in[0]), weight, strided(dout), strided(out[1]), false,
                                 out[2].zero_().data_ptr<float>());
  };
  pair.operators = [](const Tensors& in) { return operators::layer_norm(in[0], in[1]); };
  result.flops = 23 * static_cast<double>(s.width);
  result.bytes = 4 * 5 * static_cast<double>(s.width);
  complete(result, std::move(pair), s.norm_rows, 1);
  return result;
}

KernelCase rms_norm_case(const KernelSizes& s) {
  KernelCase result{
      .kernel = "gated RMSNorm", .shape = norm_shape(s), .operators = "silu, vector_norm, rsqrt", .unit = "row"};
  Draw draw;
  Pair pair;
  pair.inputs = {draw.normal({s.norm_rows, s.width}), draw.normal({s.norm_rows, s.width}), draw.normal({s.width})};
  pair.dout = draw.normal({s.norm_rows, s.width});
  const kernels::RmsNormShape shape{.length = s.norm_rows, .width = s.width};
  pair.kernel = [shape](const Tensors& in, const at::Tensor& dout, const Tensors& out) {
    const float* weight = in[2].data_ptr<float>();
    kernels::rms_norm(shape, strided(in[0]), strided(in[1]), weight, strided(out[0]));
    kernels::rms_norm_backward(shape, strided(in[0]), strided(in[1]), weight, strided(dout),
                               {strided(out[1]), strided(out[2]), out[3].zero_().data_ptr<float>()});
  };
  pair.operators = [shape](const Tensors& in) {
    const auto gated = in[0] * torch::silu(in[1]);
    const auto squares = torch::linalg_vector_norm(gated, 2, at::IntArrayRef{-1}, true).square();
    return gated * torch::rsqrt(squares / shape.width + shape.epsilon) * in[2];
  };
  result.flops = 31 * static_cast<double>(s.width);
  result.bytes = 4 * 8 * static_cast<double>(s.width);
  complete(result, std::move(pair), s.norm_rows, 1);
  return result;
}

KernelCase softmax_case(const KernelSizes& s) {
  KernelCase result{.kernel = "softmax cross entropy",
                    .shape = fmt::format("V {} of {}, {} rows", s.vocabulary, s.padded_vocabulary, s.rows),
                    .operators = "cross_entropy_loss",
                    .unit = "row"};
  Draw draw;
  Pair pair;
  pair.inputs = {3 * draw.normal({s.rows, s.padded_vocabulary})};  // some probabilities count beside the targets
  // The kernel looks at no padding; the operators, which would, are spared a copy of the rest.
  pair.inputs[0]
      .narrow(1, s.vocabulary, s.padded_vocabulary - s.vocabulary)
      .fill_(-std::numeric_limits<float>::infinity());
  const auto targets = draw.targets(s.rows, s.vocabulary);
  const kernels::SoftmaxShape shape{.rows = s.rows, .vocabulary = s.vocabulary, .width = s.padded_vocabulary};
  pair.kernel = [shape, targets](const Tensors& in, const at::Tensor&, const Tensors& out) {
    out[0].fill_(
        kernels::softmax_cross_entropy(shape, strided(in[0]), targets.data_ptr<std::int64_t>(), strided(out[1]), 1));
  };
  pair.operators = [targets](const Tensors& in) { return torch::cross_entropy_loss(in[0], targets); };
  result.flops = 7 * static_cast<double>(s.vocabulary);
  result.bytes = static_cast<double>(4 * (s.vocabulary + s.padded_vocabulary) + 8);
  complete(result, std::move(pair), s.rows, 1);
  return result;
}

KernelCase head_case(const KernelSizes& s) {
  KernelCase result{.kernel = "head cross entropy",
                    .shape = fmt::format("V {}, d_model {}, {} rows", s.vocabulary, s.d_model, s.head_rows),
                    .operators = "matmul, cross_entropy_loss",
                    .unit = "row"};
  Draw draw;
  Pair pair;
  pair.inputs = {draw.normal({s.head_rows, s.d_model}), 0.2 * draw.normal({s.vocabulary, s.d_model})};
  const auto targets = draw.targets(s.head_rows, s.vocabulary);
  const kernels::HeadShape shape{
      .rows = s.head_rows, .d_model = s.d_model, .vocabulary = s.vocabulary, .width = s.vocabulary};
  pair.kernel = [shape, targets](const Tensors& in, const at::Tensor&, const Tensors& out) {
    out[0].fill_(kernels::head_cross_entropy(shape, strided(in[0]), in[1].data_ptr<float>(),
                                             targets.data_ptr<std::int64_t>(), strided(out[1]),
                                             out[2].data_ptr<float>(), 1));
  };
  pair.operators = [targets](const Tensors& in) {
    return torch::cross_entropy_loss(torch::matmul(in[0], in[1].t()), targets);
  };
  const auto head = static_cast<double>(s.vocabulary * s.d_model);
  result.flops = 6 * head + 7 * static_cast<double>(s.vocabulary);
  result.bytes = 4 * 2 * (head / static_cast<double>(s.head_rows) + static_cast<double>(s.d_model)) + 8;
  complete(result, std::move(pair), s.head_rows, 1);
  return result;
}

// x, dt, B, C and A of a scan with a decay per channel and state.
Tensors scan_inputs(const kernels::DiagonalScanShape& s, Draw& draw) {
  Tensors inputs;
  for (const std::int64_t width : {s.channels, s.channels, s.d_state, s.d_state}) {
    inputs.push_back(draw.uniform({s.batch, s.length, width}));
  }
  inputs[1].mul_(0.1);
  inputs.push_back(-16 * draw.uniform({s.channels, s.d_state}));
  return inputs;
}

std::string scan_shape(const kernels::DiagonalScanShape& s) {
  return fmt::format("D {}, N {}, T {}, B {}", s.channels, s.d_state, s.length, s.batch);
}

}  // namespace

KernelCase diagonal_scan_case(const kernels::DiagonalScanShape& s, int threads) {
  KernelCase result{.kernel = "Mamba-1 scan", .shape = scan_shape(s), .operators = "token by token", .unit = "token"};
  Draw draw;
  Pair pair;
  pair.inputs = scan_inputs(s, draw);
  pair.dout = draw.uniform({s.batch, s.length, s.channels});
  const auto states = torch::empty({kernels::diagonal_scan_checkpoints(s)});
  pair.kernel = [s, states, threads](const Tensors& in, const at::Tensor& dout, const Tensors& out) {
    const kernels::DiagonalScanInputs<float> inputs{rows(in[0]), rows(in[1]), rows(in[2]), rows(in[3]),
                                                    in[4].data_ptr<float>()};
    kernels::diagonal_scan(s, inputs, rows(out[0]), nullptr, states.data_ptr<float>(), threads);
    kernels::diagonal_scan_backward(s, inputs, states.data_ptr<float>(), rows(dout), nullptr,
                                    {rows(out[1]), rows(out[2]), rows(out[3]), rows(out[4]), out[5].data_ptr<float>()},
                                    threads);
  };
  pair.operators = [](const Tensors& in) { return operators::diagonal_scan(in[0], in[1], in[2], in[3], in[4]); };
  result.flops = static_cast<double>(26 * s.channels * s.d_state);
  result.bytes = static_cast<double>(4 * (8 * s.channels + 6 * s.d_state));
  complete(result, std::move(pair), s.batch * s.length, threads);
  return result;
}

KernelCase coupled_scan_case(const kernels::CoupledScanShape& s, int threads) {
  KernelCase result{.kernel = fmt::format("coupled scan, r = {}", s.rank),
                    .shape = scan_shape(s.diagonal()),
                    .operators = "token by token",
                    .unit = "token"};
  Draw draw;
  Pair pair;
  pair.inputs = scan_inputs(s.diagonal(), draw);
  pair.inputs.push_back(0.02 * draw.uniform({s.d_state, s.rank}));  // P and Q: a coupling below most decays
  pair.inputs.push_back(0.5 * draw.uniform({s.rank, s.d_state}));
  pair.dout = draw.uniform({s.batch, s.length, s.channels});
  const auto states = torch::empty({kernels::coupled_scan_checkpoints(s)});
  pair.kernel = [s, states, threads](const Tensors& in, const at::Tensor& dout, const Tensors& out) {
    const auto data = [](const at::Tensor& tensor) { return tensor.data_ptr<float>(); };
    const kernels::CoupledScanInputs<float> inputs{rows(in[0]), rows(in[1]), rows(in[2]), rows(in[3]),
                                                   data(in[4]), data(in[5]), data(in[6])};
    kernels::coupled_scan(s, inputs, rows(out[0]), nullptr, {}, data(states), threads);
    kernels::coupled_scan_backward(
        s, inputs, data(states), rows(dout), nullptr,
        {rows(out[1]), rows(out[2]), rows(out[3]), rows(out[4]), data(out[5]), data(out[6]), data(out[7])}, threads);
  };
  pair.operators = [form = s.form](const Tensors& in) {
    return operators::coupled_scan(in[0], in[1], in[2], in[3], in[4], in[5], in[6], form).y;
  };
  result.flops = static_cast<double>((26 + 16 * s.rank) * s.channels * s.d_state);
  result.bytes = static_cast<double>(4 * (8 * s.channels + 6 * s.d_state));
  complete(result, std::move(pair), s.batch * s.length, threads);
  return result;
}

std::vector<std::function<KernelCase()>> kernel_cases(const KernelSizes& s) {
  const auto scan = [s](std::int64_t length) {
    return diagonal_scan_case({.batch = s.scan_batch, .length = length, .channels = s.channels, .d_state = s.d_state});
  };
  const auto coupled = [s](std::int64_t length) {
    return coupled_scan_case(
        {.batch = s.scan_batch, .length = length, .channels = s.channels, .d_state = s.d_state, .rank = s.rank});
  };
  return {
      [=] { return scan(s.length); },        [=] { return coupled(s.length); },   [=] { return scan(4 * s.length); },
      [=] { return coupled(4 * s.length); }, [=] { return convolution_case(s); }, [=] { return layer_norm_case(s); },
      [=] { return rms_norm_case(s); },      [=] { return softmax_case(s); },     [=] { return head_case(s); }};
}

}  // namespace mambarium
