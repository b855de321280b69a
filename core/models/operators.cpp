#include "core/models/operators.h"

#include <algorithm>
#include <bit>

#include "core/torch_precompiled.h"

namespace mambarium::operators {

namespace {

// a [..., Q] -> [..., Q, Q]: entry (i, j) is a_{j+1} ... a_i, 1 on the diagonal, 0 above it. Blocks of 1, 2, 4, ...
// tokens are joined in pairs: below the diagonal stand (products from the second block's start) x (products to the
// first one's end).
at::Tensor decay_matrix(const at::Tensor& a) {
  const std::int64_t length = a.size(-1);
  auto sizes = a.sizes().vec();
  sizes.insert(sizes.end(), {1, 1});
  at::Tensor blocks = torch::ones(sizes, a.options());
  for (std::int64_t width = 1; width < length; width *= 2) {
    auto outer = a.sizes().vec();
    outer.back() = length / (2 * width);
    auto pair_shape = outer;
    pair_shape.insert(pair_shape.end(), {2, width, width});
    auto row_shape = outer;
    row_shape.insert(row_shape.end(), {2, width});
    const auto pairs = blocks.reshape(pair_shape);
    const auto first = pairs.select(-3, 0), second = pairs.select(-3, 1);
    const auto entering = a.reshape(row_shape).select(-2, 1).narrow(-1, 0, 1) * second.select(-1, 0);
    const auto leaving = first.select(-2, width - 1);
    const auto below = entering.unsqueeze(-1) * leaving.unsqueeze(-2);
    blocks = torch::cat({torch::cat({first, torch::zeros_like(first)}, -1), torch::cat({below, second}, -1)}, -2);
  }
  sizes = a.sizes().vec();
  sizes.push_back(length);
  return blocks.reshape(sizes);
}

at::Tensor padded_to(const at::Tensor& rows, std::int64_t length, double value) {
  const std::int64_t missing = length - rows.size(1);
  if (missing == 0) {
    return rows;
  }
  auto sizes = rows.sizes().vec();
  sizes[1] = missing;
  return torch::cat({rows, torch::full(sizes, value, rows.options())}, 1);
}

// (exp(dt A) - 1) / A, for which autograd finds accurate gradients: for small dt A by its series, to which A = 0
// belongs.
at::Tensor coupling_integral(const at::Tensor& dt, const at::Tensor& A) {
  const auto x = dt * A;
  const auto small = x.abs() < 0.1;
  auto series = torch::ones_like(x);
  for (int k = 10; k >= 2; --k) series = 1 + series * torch::where(small, x, torch::zeros_like(x)) / k;
  const auto divisor = torch::where(small, torch::full_like(x, -1), A.expand_as(x));
  return torch::where(small, dt * series, torch::expm1(x) / divisor);
}

// What drives the states beside their decay is added(dt [b, D, 1], states before [b, D, N]) and dt x B.
template <class Added>
ScanResult token_by_token(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                          const at::Tensor& A, const at::Tensor& h0, const Added& added) {
  // unbind, unlike select, has a backward pass whose time is linear in the number of tokens.
  const auto steps = dt.unsqueeze(-1).unbind(1), inputs = (dt * x).unsqueeze(-1).unbind(1);
  const auto keys = B.unsqueeze(2).unbind(1), queries = C.unsqueeze(-1).unbind(1);
  auto state = h0.defined() ? h0 : torch::zeros({x.size(0), x.size(2), A.size(1)}, x.options());
  std::vector<at::Tensor> outputs;
  for (std::size_t t = 0; t < steps.size(); ++t) {
    state = torch::exp(steps[t] * A) * state + inputs[t] * keys[t] + added(steps[t], state);
    outputs.push_back(torch::matmul(state, queries[t]).squeeze(-1));
  }
  return {torch::stack(outputs, 1), state};
}

}  // namespace

at::Tensor activate(const at::Tensor& input, Activation activation) {
  switch (activation) {
    case Activation::relu:
      return torch::relu(input);
    case Activation::silu:
      return torch::silu(input);
    case Activation::none:
      break;
  }
  return input;
}

at::Tensor layer_norm(const at::Tensor& input, const at::Tensor& weight) {
  return torch::layer_norm(input, {weight.size(0)}, weight, {}, layer_norm_epsilon);
}

at::Tensor causal_convolution(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                              const at::Tensor& past) {
  const std::int64_t window = weight.size(1), length = input.size(1);
  const auto before = past.defined() ? past : torch::zeros({input.size(0), window - 1, input.size(2)}, input.options());
  const auto padded = window == 1 ? input : torch::cat({before, input}, 1);
  auto output = padded.narrow(1, window - 1, length) * weight.select(1, window - 1);
  if (bias.defined()) output = bias + output;
  for (std::int64_t tap = window - 2; tap >= 0; --tap) {
    output = output + padded.narrow(1, tap, length) * weight.select(1, tap);
  }
  return output;
}

at::Tensor continued_convolution(const at::Tensor& input, const at::Tensor& weight, const at::Tensor& bias,
                                 at::Tensor* past) {
  if (past == nullptr) return causal_convolution(input, weight, bias);
  const std::int64_t window = weight.size(1);
  const auto before =
      past->defined() ? *past : torch::zeros({input.size(0), window - 1, input.size(2)}, input.options());
  const auto together = torch::cat({before, input}, 1);
  *past = together.narrow(1, together.size(1) - (window - 1), window - 1).clone();
  return causal_convolution(input, weight, bias, before);
}

ScanResult selective_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& a, const at::Tensor& B,
                          const at::Tensor& C, const at::Tensor& h0, std::int64_t chunk) {
  const std::int64_t batch = x.size(0), length = x.size(1), heads = x.size(2), headdim = x.size(3), d_state = B.size(2);
  const std::int64_t width =
      std::min(chunk, static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(length))));
  const std::int64_t chunks = (length + width - 1) / width;
  const auto by_chunk = [&](const at::Tensor& rows, double padding) {
    const auto padded = padded_to(rows, chunks * width, padding);
    auto sizes = padded.sizes().vec();
    sizes[1] = width;
    sizes.insert(sizes.begin() + 1, chunks);
    return padded.reshape(sizes);
  };
  // The tokens that fill the last chunk keep the state as it is: a = 1, x = 0.
  const auto inputs = by_chunk(x * dt.unsqueeze(-1), 0).permute({0, 1, 3, 2, 4});  // [b, chunks, H, Q, P]
  const auto decays = by_chunk(a, 1).permute({0, 1, 3, 2}).contiguous();           // [b, chunks, H, Q]
  const auto keys = by_chunk(B, 0).unsqueeze(2);                                   // [b, chunks, 1, Q, N]
  const auto queries = by_chunk(C, 0).unsqueeze(2);

  const auto within = decay_matrix(decays);
  auto y = torch::matmul(torch::matmul(queries, keys.transpose(-1, -2)) * within, inputs);

  const auto entering = decays.narrow(-1, 0, 1) * within.select(-1, 0);                        // a_0 ... a_i
  const auto leaving = within.select(-2, width - 1);                                           // a_{j+1} ... a_{Q-1}
  const auto added = torch::matmul((inputs * leaving.unsqueeze(-1)).transpose(-1, -2), keys);  // [b, chunks, H, P, N]
  auto state = h0.defined() ? h0 : torch::zeros({batch, heads, headdim, d_state}, x.options());
  std::vector<at::Tensor> states;
  for (std::int64_t index = 0; index < chunks; ++index) {
    states.push_back(state);
    const auto kept = entering.select(1, index).select(-1, width - 1).unsqueeze(-1).unsqueeze(-1);
    state = kept * state + added.select(1, index);
  }
  if (chunks > 1 || h0.defined()) {
    y = y + entering.unsqueeze(-1) * torch::matmul(queries, torch::stack(states, 1).transpose(-1, -2));
  }
  y = y.permute({0, 1, 3, 2, 4}).reshape({batch, chunks * width, heads, headdim}).narrow(1, 0, length);
  return {y, state};
}

ScanResult diagonal_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                         const at::Tensor& A, const at::Tensor& h0) {
  return token_by_token(x, dt, B, C, A, h0,
                        [](const at::Tensor&, const at::Tensor& state) { return torch::zeros_like(state); });
}

ScanResult coupled_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                        const at::Tensor& A, const at::Tensor& P, const at::Tensor& Q, CouplingForm form,
                        const at::Tensor& h0, at::Tensor* z) {
  const bool shared = P.dim() == 2;
  const auto times = [&](const at::Tensor& matrix, const at::Tensor& vectors) {  // of each channel [b, D, ...]
    return shared ? torch::matmul(vectors, matrix.t()) : torch::matmul(matrix, vectors.unsqueeze(-1)).squeeze(-1);
  };
  std::vector<at::Tensor> latents;
  const auto result = token_by_token(x, dt, B, C, A, h0, [&](const at::Tensor& step, const at::Tensor& before) {
    latents.push_back(times(Q, before));
    return (form == CouplingForm::euler ? step : coupling_integral(step, A)) * times(P, latents.back());
  });
  if (z != nullptr) {
    latents.push_back(times(Q, result.state));
    *z = torch::stack(at::TensorList(latents).slice(1), 1);
  }
  return result;
}

at::Tensor read_out(const at::Tensor& logits, Readout readout) {
  if (readout == Readout::softmax) {
    return torch::log_softmax(logits, -1);
  }
  const auto weights = torch::relu(logits) + 1e-5;
  return weights.log() - weights.sum(-1, true).log();
}

}  // namespace mambarium::operators
