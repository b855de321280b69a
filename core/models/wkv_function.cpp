#include "core/models/wkv_function.h"

#include <sstream>
#include <stdexcept>
#include <vector>

#include "core/kernels/flush_denormals.h"
#include "core/kernels/parallel.h"
#include "core/models/wkv.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

using at::Tensor;
using torch::autograd::AutogradContext;
using torch::autograd::variable_list;

void expect(const Tensor& tensor, at::IntArrayRef sizes, const Tensor& k, const char* what) {
  if (tensor.sizes() == sizes && tensor.scalar_type() == k.scalar_type()) return;
  std::ostringstream sentence;
  sentence << "wkv: " << what << " must be " << k.scalar_type() << " " << sizes << " beside k " << k.sizes()
           << ", and is " << tensor.scalar_type() << " " << tensor.sizes();
  throw std::invalid_argument(sentence.str());
}

// Dense numbers of one sequence each; null for an undefined tensor.
template <class Real>
Real* sequence(const Tensor& tensor, std::int64_t b) {
  return tensor.defined() ? tensor.data_ptr<Real>() + b * (tensor.numel() / tensor.size(0)) : nullptr;
}

// Inputs: k, v, w, u and perhaps a state.
template <class Real>
WkvInputs<Real> inputs_of(const variable_list& in, std::int64_t b) {
  return {sequence<Real>(in[0], b), sequence<Real>(in[1], b), in[2].data_ptr<Real>(), in[3].data_ptr<Real>(),
          in.size() > 4 ? sequence<Real>(in[4], b) : nullptr};
}

WkvShape shape_of(const Tensor& k) {
  return {.length = k.size(1), .channels = k.size(2)};
}

struct WkvFunction : torch::autograd::Function<WkvFunction> {
  static variable_list forward(AutogradContext* context, std::int64_t threads, at::TensorList inputs) {
    const variable_list in = inputs.vec();
    const auto& k = in[0];
    context->save_for_backward(in);
    context->saved_data["threads"] = threads;
    const auto y = torch::empty_like(k), state = torch::empty({k.size(0), 3, k.size(2)}, k.options());
    AT_DISPATCH_FLOATING_TYPES(k.scalar_type(), "wkv", [&] {
      kernels::parallel_ranges(k.size(0), static_cast<int>(threads), [&](std::int64_t begin, std::int64_t end) {
        const kernels::FlushDenormals flush;
        for (std::int64_t b = begin; b < end; ++b)
          wkv(shape_of(k), inputs_of<scalar_t>(in, b), sequence<scalar_t>(y, b), sequence<scalar_t>(state, b));
      });
    });
    return {y, state};
  }

  // Every sequence has its own gradients of w and u, which are added in order.
  static variable_list backward(AutogradContext* context, variable_list incoming) {
    const auto in = context->get_saved_variables();
    const auto& k = in[0];
    const int threads = static_cast<int>(context->saved_data["threads"].toInt());
    const auto dy = incoming[0].defined() ? incoming[0].contiguous() : torch::zeros_like(k);
    const auto dlast = incoming[1].defined() ? incoming[1].contiguous() : Tensor();
    const auto dk = torch::empty_like(k), dv = torch::empty_like(k);
    const auto dw = torch::empty({k.size(0), k.size(2)}, k.options()), du = torch::empty_like(dw);
    const auto dstate = in.size() > 4 ? torch::empty_like(in[4]) : Tensor();
    AT_DISPATCH_FLOATING_TYPES(k.scalar_type(), "wkv_backward", [&] {
      kernels::parallel_ranges(k.size(0), threads, [&](std::int64_t begin, std::int64_t end) {
        const kernels::FlushDenormals flush;
        std::vector<scalar_t> scratch(static_cast<std::size_t>(wkv_scratch(shape_of(k))));
        for (std::int64_t b = begin; b < end; ++b) {
          const WkvGradients<scalar_t> out = {sequence<scalar_t>(dk, b), sequence<scalar_t>(dv, b),
                                              sequence<scalar_t>(dw, b), sequence<scalar_t>(du, b),
                                              sequence<scalar_t>(dstate, b)};
          wkv_backward(shape_of(k), inputs_of<scalar_t>(in, b), sequence<scalar_t>(dy, b), sequence<scalar_t>(dlast, b),
                       out, scratch.data());
        }
      });
    });
    variable_list out = {Tensor(), dk, dv, dw.sum(0), du.sum(0)};
    if (dstate.defined()) out.push_back(dstate);
    return out;
  }
};

}  // namespace

WkvResult wkv(const Tensor& k, const Tensor& v, const Tensor& w, const Tensor& u, const Tensor& state, int threads) {
  if (k.dim() != 3 || k.numel() == 0 || (k.scalar_type() != torch::kFloat32 && k.scalar_type() != torch::kFloat64)) {
    std::ostringstream sentence;
    sentence << "wkv: k must be a non-empty float32 or float64 tensor [sequences, tokens, channels], and is "
             << k.scalar_type() << " " << k.sizes();
    throw std::invalid_argument(sentence.str());
  }
  expect(v, k.sizes(), k, "v");
  expect(w, {k.size(2)}, k, "w");
  expect(u, {k.size(2)}, k, "u");
  std::vector<Tensor> inputs = {k.contiguous(), v.contiguous(), w.contiguous(), u.contiguous()};
  if (state.defined()) {
    expect(state, {k.size(0), 3, k.size(2)}, k, "the state");
    inputs.push_back(state.contiguous());
  }
  const auto result = WkvFunction::apply(std::int64_t{threads}, at::TensorList(inputs));
  return {result[0], result[1]};
}

}  // namespace mambarium
