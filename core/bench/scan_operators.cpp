#include "core/bench/scan_operators.h"

#include <vector>

#include "core/torch_precompiled.h"

namespace mambarium::operators {

namespace {

constexpr std::int64_t tokens_at_once = 16;

// Tokens first: the states of one lie together.
std::vector<at::Tensor> pieces(const at::Tensor& rows) {
  return rows.transpose(0, 1).contiguous().split(tokens_at_once);
}

}  // namespace

at::Tensor diagonal_scan(const at::Tensor& x, const at::Tensor& dt, const at::Tensor& B, const at::Tensor& C,
                         const at::Tensor& A) {
  const auto steps = pieces(dt), inputs = pieces(dt * x), keys = pieces(B), queries = pieces(C);
  std::vector<at::Tensor> outputs;
  at::Tensor state;
  for (std::size_t piece = 0; piece < steps.size(); ++piece) {
    // unbind, unlike select, has a backward pass whose time is linear in the number of tokens.
    const auto decays = torch::exp(steps[piece].unsqueeze(-1) * A).unbind(0);  // each [b, D, N]
    const auto added = (inputs[piece].unsqueeze(-1) * keys[piece].unsqueeze(-2)).unbind(0);
    std::vector<at::Tensor> states;
    for (std::size_t t = 0; t < added.size(); ++t) {
      state = state.defined() ? torch::addcmul(added[t], decays[t], state) : added[t];
      states.push_back(state);
    }
    outputs.push_back((torch::stack(states) * queries[piece].unsqueeze(-2)).sum(-1));
  }
  return torch::cat(outputs).transpose(0, 1);
}

}  // namespace mambarium::operators
