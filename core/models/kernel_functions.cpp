#include "core/models/kernel_functions.h"

#include <sstream>
#include <stdexcept>
#include <string>

#include "core/kernels/causal_convolution.h"
#include "core/kernels/coupled_scan.h"
#include "core/kernels/diagonal_scan.h"
#include "core/kernels/parallel.h"
#include "core/kernels/rms_norm.h"
#include "core/kernels/selective_scan.h"
#include "core/kernels/softmax_cross_entropy.h"
#include "core/torch_precompiled.h"

namespace mambarium::fused {
namespace {

using at::Tensor;
using kernels::Rows;
using kernels::Strided;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void expect(const Tensor& tensor, at::IntArrayRef sizes, const char* what) {
  if (tensor.sizes() == sizes && tensor.scalar_type() == torch::kFloat32) return;
  std::ostringstream sentence;
  sentence << what << ": expected float32 " << sizes << ", got " << tensor.toString() << " " << tensor.sizes();
  throw std::invalid_argument(sentence.str());
}

float* data(const Tensor& tensor) {
  return tensor.defined() ? tensor.data_ptr<float>() : nullptr;
}

// [b, T, ...]: whatever follows the token is its row.
Rows<float> rows(const Tensor& tensor) {
  if (!tensor.defined()) return {};
  const std::int64_t width = tensor.numel() / std::max<std::int64_t>(tensor.size(0) * tensor.size(1), 1);
  return {tensor.data_ptr<float>(), tensor.size(1) * width, width};
}

Strided<float> flat(const Tensor& tensor) {
  return {data(tensor), tensor.defined() ? tensor.size(-1) : 0};
}

Tensor contiguous(const Tensor& tensor) {
  return tensor.defined() ? tensor.contiguous() : tensor;
}

kernels::ScanShape scan_shape(const Tensor& x, const Tensor& B, std::int64_t groups) {
  return {.batch = x.size(0),
          .length = x.size(1),
          .heads = x.size(2),
          .headdim = x.size(3),
          .d_state = B.size(2) / groups,
          .groups = groups};
}

struct SelectiveScanFunction : torch::autograd::Function<SelectiveScanFunction> {
  // Inputs: x, dt, a, B, C and perhaps h0.
  static variable_list forward(AutogradContext* context, std::int64_t groups, std::int64_t threads,
                               at::TensorList inputs) {
    context->save_for_backward(inputs.vec());
    context->saved_data["groups"] = groups;
    context->saved_data["threads"] = threads;
    const Tensor &x = inputs[0], &dt = inputs[1], &a = inputs[2], &B = inputs[3], &C = inputs[4];
    const Tensor h0 = inputs.size() > 5 ? inputs[5] : Tensor();
    const auto shape = scan_shape(x, B, groups);
    const auto y = torch::empty_like(x);
    const auto state = torch::empty({shape.batch, shape.heads, shape.headdim, shape.d_state}, x.options());
    kernels::selective_scan(shape, {rows(x), rows(dt), rows(a), rows(B), rows(C), data(h0)}, rows(y), data(state),
                            static_cast<int>(threads));
    return {y, state};
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto in = context->get_saved_variables();
    const std::int64_t groups = context->saved_data["groups"].toInt();
    const int threads = static_cast<int>(context->saved_data["threads"].toInt());
    const auto dy = incoming[0].defined() ? incoming[0].contiguous() : torch::zeros_like(in[0]);
    const auto dstate = contiguous(incoming[1]);
    variable_list out(2);  // none for the two numbers
    for (const Tensor& input : in) out.push_back(torch::empty_like(input));
    const bool from_state = in.size() > 5;
    kernels::selective_scan_backward(
        scan_shape(in[0], in[3], groups),
        {rows(in[0]), rows(in[1]), rows(in[2]), rows(in[3]), rows(in[4]), from_state ? data(in[5]) : nullptr}, rows(dy),
        data(dstate),
        {rows(out[2]), rows(out[3]), rows(out[4]), rows(out[5]), rows(out[6]), from_state ? data(out[7]) : nullptr},
        threads);
    return out;
  }
};

kernels::DiagonalScanShape diagonal_shape(const Tensor& x, const Tensor& A) {
  return {.batch = x.size(0), .length = x.size(1), .channels = x.size(2), .d_state = A.size(1)};
}

struct DiagonalScanFunction : torch::autograd::Function<DiagonalScanFunction> {
  // Inputs: x, dt, B, C, A and perhaps h0.
  static variable_list forward(AutogradContext* context, std::int64_t threads, at::TensorList inputs) {
    const Tensor &x = inputs[0], &A = inputs[4];
    const auto shape = diagonal_shape(x, A);
    const auto y = torch::empty_like(x);
    const auto state = torch::empty({shape.batch, shape.channels, shape.d_state}, x.options());
    const auto checkpoints = torch::empty({kernels::diagonal_scan_checkpoints(shape)}, x.options());
    kernels::diagonal_scan(shape, numbers(inputs), rows(y), data(state), data(checkpoints), static_cast<int>(threads));
    auto kept = inputs.vec();
    kept.push_back(checkpoints);
    context->save_for_backward(kept);
    context->saved_data["threads"] = threads;
    return {y, state};
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    auto in = context->get_saved_variables();
    const Tensor checkpoints = in.back();
    in.pop_back();
    const int threads = static_cast<int>(context->saved_data["threads"].toInt());
    const auto dy = incoming[0].defined() ? incoming[0].contiguous() : torch::zeros_like(in[0]);
    const auto dstate = contiguous(incoming[1]);
    variable_list out(1);  // none for the number of threads
    for (const Tensor& input : in) out.push_back(torch::empty_like(input));
    kernels::diagonal_scan_backward(
        diagonal_shape(in[0], in[4]), numbers(in), data(checkpoints), rows(dy), data(dstate),
        {rows(out[1]), rows(out[2]), rows(out[3]), rows(out[4]), data(out[5]), in.size() > 5 ? data(out[6]) : nullptr},
        threads);
    return out;
  }

 private:
  static kernels::DiagonalScanInputs<float> numbers(at::TensorList in) {
    return {rows(in[0]), rows(in[1]), rows(in[2]), rows(in[3]), data(in[4]), in.size() > 5 ? data(in[5]) : nullptr};
  }
};

struct CoupledScanFunction : torch::autograd::Function<CoupledScanFunction> {
  // Inputs: x, dt, B, C, A, P, Q and perhaps h0.
  static variable_list forward(AutogradContext* context, std::int64_t form, bool with_z, std::int64_t threads,
                               at::TensorList inputs) {
    const Tensor& x = inputs[0];
    const auto shape = shape_of(inputs, form);
    const auto y = torch::empty_like(x);
    const auto state = torch::empty({shape.batch, shape.channels, shape.d_state}, x.options());
    const auto z = torch::empty({with_z ? shape.batch : 0, shape.length, shape.channels, shape.rank}, x.options());
    const auto checkpoints = torch::empty({kernels::coupled_scan_checkpoints(shape)}, x.options());
    kernels::coupled_scan(shape, numbers(inputs), rows(y), data(state), with_z ? rows(z) : Rows<float>(),
                          data(checkpoints), static_cast<int>(threads));
    auto kept = inputs.vec();
    kept.push_back(checkpoints);
    context->save_for_backward(kept);
    context->saved_data["form"] = form;
    context->saved_data["threads"] = threads;
    context->mark_non_differentiable({z});
    return {y, state, z};
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    auto in = context->get_saved_variables();
    const Tensor checkpoints = in.back();
    in.pop_back();
    const int threads = static_cast<int>(context->saved_data["threads"].toInt());
    const auto dy = incoming[0].defined() ? incoming[0].contiguous() : torch::zeros_like(in[0]);
    const auto dstate = contiguous(incoming[1]);
    variable_list out(3);  // none for the form, the wish and the number of threads
    for (const Tensor& input : in) out.push_back(torch::empty_like(input));
    kernels::coupled_scan_backward(shape_of(in, context->saved_data["form"].toInt()), numbers(in), data(checkpoints),
                                   rows(dy), data(dstate),
                                   {rows(out[3]), rows(out[4]), rows(out[5]), rows(out[6]), data(out[7]), data(out[8]),
                                    data(out[9]), in.size() > 7 ? data(out[10]) : nullptr},
                                   threads);
    return out;
  }

 private:
  static kernels::CoupledScanShape shape_of(at::TensorList in, std::int64_t form) {
    const Tensor &x = in[0], &P = in[5];
    return {.batch = x.size(0),
            .length = x.size(1),
            .channels = x.size(2),
            .d_state = P.size(-2),
            .rank = P.size(-1),
            .per_channel = P.dim() == 3,
            .form = static_cast<CouplingForm>(form)};
  }
  static kernels::CoupledScanInputs<float> numbers(at::TensorList in) {
    return {rows(in[0]), rows(in[1]), rows(in[2]), rows(in[3]),
            data(in[4]), data(in[5]), data(in[6]), in.size() > 7 ? data(in[7]) : nullptr};
  }
};

struct ConvolutionFunction : torch::autograd::Function<ConvolutionFunction> {
  static kernels::ConvolutionShape shape(const Tensor& input, const Tensor& taps) {
    return {.length = input.size(1), .channels = input.size(2), .window = taps.size(0)};
  }
  static Tensor forward(AutogradContext* context, const Tensor& input, const Tensor& weight, const Tensor& bias,
                        std::int64_t activation, std::int64_t threads) {
    const auto taps = weight.t().contiguous();
    const auto out = torch::empty_like(input), slope = torch::empty_like(input);
    kernels::parallel_ranges(input.size(0), static_cast<int>(threads), [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        kernels::causal_convolution(shape(input, taps), rows(input).sequence(b), data(taps), data(bias),
                                    static_cast<Activation>(activation), rows(out).sequence(b),
                                    rows(slope).sequence(b));
      }
    });
    context->save_for_backward({input, taps, slope});
    context->saved_data["threads"] = threads;
    return out;
  }
  // Every sequence sums its own gradients, which are added in order.
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto in = context->get_saved_variables();
    const auto& taps = in[1];
    const int threads = static_cast<int>(context->saved_data["threads"].toInt());
    const auto dout = incoming[0].contiguous(), dinput = torch::empty_like(in[0]);
    const std::int64_t batch = in[0].size(0), window = taps.size(0), channels = taps.size(1);
    const auto sums = torch::zeros({batch, window + 1, channels}, taps.options());
    kernels::parallel_ranges(batch, threads, [&](std::int64_t begin, std::int64_t end) {
      for (std::int64_t b = begin; b < end; ++b) {
        float* const dtaps = data(sums) + b * (window + 1) * channels;
        kernels::causal_convolution_backward(shape(in[0], taps), rows(in[0]).sequence(b), data(taps),
                                             rows(in[2]).sequence(b), rows(dout).sequence(b), rows(dinput).sequence(b),
                                             dtaps, dtaps + window * channels);
      }
    });
    const auto sum = sums.sum(0);
    return {dinput, sum.narrow(0, 0, window).t().contiguous(), sum.select(0, window).contiguous(), Tensor(), Tensor()};
  }
};

struct RmsNormFunction : torch::autograd::Function<RmsNormFunction> {
  static kernels::RmsNormShape shape(const Tensor& input, std::int64_t groups, bool norm_before_gate) {
    return {.length = input.numel() / input.size(-1),
            .width = input.size(-1),
            .groups = groups,
            .norm_before_gate = norm_before_gate};
  }
  // Inputs: the rows, the weight and perhaps the gate.
  static Tensor forward(AutogradContext* context, std::int64_t groups, bool norm_before_gate, at::TensorList inputs) {
    context->save_for_backward(inputs.vec());
    context->saved_data["groups"] = groups;
    context->saved_data["before"] = norm_before_gate;
    const Tensor &input = inputs[0], &weight = inputs[1];
    const Tensor gate = inputs.size() > 2 ? inputs[2] : Tensor();
    const auto out = torch::empty_like(input);
    kernels::rms_norm(shape(input, groups, norm_before_gate), flat(input), flat(gate), data(weight), flat(out));
    return out;
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto in = context->get_saved_variables();
    const auto dout = incoming[0].contiguous();
    variable_list out{Tensor(), Tensor(), torch::empty_like(in[0]), torch::zeros_like(in[1])};
    const bool gated = in.size() > 2;
    if (gated) out.push_back(torch::empty_like(in[2]));
    kernels::rms_norm_backward(
        shape(in[0], context->saved_data["groups"].toInt(), context->saved_data["before"].toBool()), flat(in[0]),
        gated ? flat(in[2]) : Strided<float>(), data(in[1]), flat(dout),
        {flat(out[2]), gated ? flat(out[4]) : Strided<float>(), data(out[3])});
    return out;
  }
};

// The gradient is taken on the way forward, where a row is in cache; backward only scales it.
struct SoftmaxCrossEntropyFunction : torch::autograd::Function<SoftmaxCrossEntropyFunction> {
  static Tensor forward(AutogradContext* context, const Tensor& logits, const Tensor& targets, std::int64_t vocabulary,
                        bool wanted, std::int64_t threads) {
    const auto gradient = wanted ? torch::empty_like(logits) : Tensor();
    const double loss = kernels::softmax_cross_entropy(
        {.rows = logits.size(0), .vocabulary = vocabulary, .width = logits.size(1)}, flat(logits),
        targets.data_ptr<std::int64_t>(), flat(gradient), static_cast<int>(threads));
    if (wanted) context->save_for_backward({gradient});
    return torch::full({}, loss, logits.options());
  }
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    return {context->get_saved_variables()[0] * incoming[0], Tensor(), Tensor(), Tensor(), Tensor()};
  }
};

}  // namespace

operators::ScanResult selective_scan(const Tensor& x, const Tensor& dt, const Tensor& a, const Tensor& B,
                                     const Tensor& C, const Tensor& h0, std::int64_t groups, int threads) {
  if (x.dim() != 4 || B.dim() != 3) throw std::invalid_argument("selective_scan: x has 4 dimensions and B has 3");
  const std::int64_t batch = x.size(0), length = x.size(1), heads = x.size(2);
  if (groups < 1 || heads % groups != 0 || B.size(2) % groups != 0) {
    throw std::invalid_argument("selective_scan: " + std::to_string(groups) + " groups do not divide " +
                                std::to_string(heads) + " heads and " + std::to_string(B.size(2)) + " columns of B");
  }
  const std::int64_t d_state = B.size(2) / groups;
  expect(dt, {batch, length, heads}, "selective_scan: dt");
  expect(a, {batch, length, heads}, "selective_scan: a");
  expect(B, {batch, length, groups * d_state}, "selective_scan: B");
  expect(C, {batch, length, groups * d_state}, "selective_scan: C");
  if (h0.defined()) expect(h0, {batch, heads, x.size(3), d_state}, "selective_scan: h0");
  variable_list inputs{x.contiguous(), dt.contiguous(), a.contiguous(), B.contiguous(), C.contiguous()};
  if (h0.defined()) inputs.push_back(h0.contiguous());
  const auto results = SelectiveScanFunction::apply(groups, std::int64_t{threads}, at::TensorList(inputs));
  return {results[0], results[1]};
}

namespace {

// What both scans of Mamba-1 are given.
variable_list channel_scan_inputs(const std::string& name, const Tensor& x, const Tensor& dt, const Tensor& B,
                                  const Tensor& C, const Tensor& A, const Tensor& h0) {
  if (x.dim() != 3 || A.dim() != 2) throw std::invalid_argument(name + ": x has 3 dimensions and A has 2");
  const std::int64_t batch = x.size(0), length = x.size(1), channels = x.size(2), d_state = A.size(1);
  expect(x, x.sizes(), (name + ": x").c_str());
  expect(dt, {batch, length, channels}, (name + ": dt").c_str());
  expect(A, {channels, d_state}, (name + ": A").c_str());
  expect(B, {batch, length, d_state}, (name + ": B").c_str());
  expect(C, {batch, length, d_state}, (name + ": C").c_str());
  if (h0.defined()) expect(h0, {batch, channels, d_state}, (name + ": h0").c_str());
  return {x.contiguous(), dt.contiguous(), B.contiguous(), C.contiguous(), A.contiguous()};
}

}  // namespace

operators::ScanResult diagonal_scan(const Tensor& x, const Tensor& dt, const Tensor& B, const Tensor& C,
                                    const Tensor& A, const Tensor& h0, int threads) {
  auto inputs = channel_scan_inputs("diagonal_scan", x, dt, B, C, A, h0);
  if (h0.defined()) inputs.push_back(h0.contiguous());
  const auto results = DiagonalScanFunction::apply(std::int64_t{threads}, at::TensorList(inputs));
  return {results[0], results[1]};
}

operators::ScanResult coupled_scan(const Tensor& x, const Tensor& dt, const Tensor& B, const Tensor& C, const Tensor& A,
                                   const Tensor& P, const Tensor& Q, CouplingForm form, const Tensor& h0, int threads,
                                   Tensor* z) {
  auto inputs = channel_scan_inputs("coupled_scan", x, dt, B, C, A, h0);
  if (P.dim() != 2 && P.dim() != 3) {
    throw std::invalid_argument("coupled_scan: P has 2 dimensions, or 3 with one coupling for each channel; got " +
                                std::to_string(P.dim()));
  }
  const std::int64_t channels = A.size(0), d_state = A.size(1), rank = P.size(-1);
  if (P.dim() == 2) {
    expect(P, {d_state, rank}, "coupled_scan: P");
    expect(Q, {rank, d_state}, "coupled_scan: Q");
  } else {
    expect(P, {channels, d_state, rank}, "coupled_scan: P");
    expect(Q, {channels, rank, d_state}, "coupled_scan: Q");
  }
  inputs.push_back(P.contiguous());
  inputs.push_back(Q.contiguous());
  if (h0.defined()) inputs.push_back(h0.contiguous());
  const auto results = CoupledScanFunction::apply(static_cast<std::int64_t>(form), z != nullptr, std::int64_t{threads},
                                                  at::TensorList(inputs));
  if (z != nullptr) *z = results[2];
  return {results[0], results[1]};
}

Tensor causal_convolution(const Tensor& input, const Tensor& weight, const Tensor& bias, Activation activation,
                          int threads) {
  if (input.dim() != 3 || weight.dim() != 2) {
    throw std::invalid_argument("causal_convolution: the input has 3 dimensions and the weight has 2");
  }
  expect(weight, {input.size(2), weight.size(1)}, "causal_convolution: weight");
  expect(bias, {input.size(2)}, "causal_convolution: bias");
  return ConvolutionFunction::apply(input.contiguous(), weight, bias.contiguous(),
                                    static_cast<std::int64_t>(activation), threads);
}

Tensor rms_norm(const Tensor& input, const Tensor& weight, const Tensor& gate, std::int64_t groups,
                bool norm_before_gate) {
  expect(weight, {input.size(-1)}, "rms_norm: weight");
  if (gate.defined()) expect(gate, input.sizes(), "rms_norm: gate");
  if (groups < 1 || input.size(-1) % groups != 0) {
    throw std::invalid_argument("rms_norm: " + std::to_string(groups) + " groups do not divide a width of " +
                                std::to_string(input.size(-1)));
  }
  variable_list inputs{input.contiguous(), weight.contiguous()};
  if (gate.defined()) inputs.push_back(gate.contiguous());
  return RmsNormFunction::apply(groups, norm_before_gate, at::TensorList(inputs));
}

Tensor softmax_cross_entropy(const Tensor& logits, const Tensor& targets, std::int64_t vocabulary, int threads) {
  if (logits.dim() != 2 || vocabulary < 1 || vocabulary > logits.size(1)) {
    throw std::invalid_argument("softmax_cross_entropy: logits are [rows, width] with 1 <= vocabulary <= width");
  }
  if (targets.scalar_type() != torch::kInt64 || targets.sizes() != at::IntArrayRef{logits.size(0)}) {
    throw std::invalid_argument("softmax_cross_entropy: targets are int64, one for every row of logits");
  }
  const bool wanted = torch::GradMode::is_enabled() && logits.requires_grad();
  return SoftmaxCrossEntropyFunction::apply(logits.contiguous(), targets.contiguous(), vocabulary, wanted, threads);
}

}  // namespace mambarium::fused
