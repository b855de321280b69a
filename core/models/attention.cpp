#include "core/models/attention.h"

#include <cmath>
#include <limits>

#include "core/torch_precompiled.h"

namespace mambarium::operators {

namespace {

// elu(x) + 1 without the cancellation: exp(x) below 0 keeps its digits.
at::Tensor elu_plus_one(const at::Tensor& x) {
  return torch::exp(torch::clamp_max(x, 0)) + torch::relu(x);
}

}  // namespace

at::Tensor softmax_attention(const at::Tensor& q, const at::Tensor& keys, const at::Tensor& values) {
  const std::int64_t length = q.size(1), before = keys.size(1) - length;
  const auto scaled = q * (1 / std::sqrt(static_cast<double>(q.size(2))));
  const auto unseen =
      torch::full({length, keys.size(1)}, -std::numeric_limits<double>::infinity(), q.options()).triu_(before + 1);
  const auto weights = torch::softmax(torch::baddbmm(unseen, scaled, keys.transpose(1, 2)), -1);
  return torch::bmm(weights, values);
}

ScanResult linear_attention(const at::Tensor& q, const at::Tensor& k, const at::Tensor& v, const at::Tensor& past) {
  const std::int64_t width = v.size(2);
  const auto ones = torch::ones({1, q.size(1), 1}, q.options());
  const auto counted = torch::cat({v, ones.expand({v.size(0), -1, -1})}, -1).unsqueeze(2);
  const auto scan = selective_scan(counted, ones, ones, elu_plus_one(k), elu_plus_one(q), past);
  const auto sums = scan.y.squeeze(2);
  return {sums.narrow(-1, 0, width) / sums.narrow(-1, width, 1), scan.state};
}

}  // namespace mambarium::operators
