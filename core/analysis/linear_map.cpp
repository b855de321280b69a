#include "core/analysis/linear_map.h"

#include <limits>
#include <stdexcept>

#include "core/torch_precompiled.h"

namespace mambarium {

LinearMap::LinearMap(const at::Tensor& x, const at::Tensor& y) {
  if (!torch::isfinite(x).all().item<bool>())
    throw std::invalid_argument("the recurrent state holds numbers that are not finite");
  const auto rows = static_cast<double>(x.size(0));
  mean_ = x.mean(0);
  const at::Tensor centred = x - mean_;
  const at::Tensor deviation = centred.square().mean(0).sqrt();
  scale_ = torch::where(deviation > 0, deviation.reciprocal(), torch::zeros_like(deviation));
  const at::Tensor columns = centred * scale_;
  constant_ = y.mean(0);
  constexpr double jitter = 1e-10;
  const at::Tensor correlations =
      torch::matmul(columns.t(), columns) / rows + jitter * torch::eye(x.size(1), x.options());
  const at::Tensor moments = torch::matmul(columns.t(), y - constant_) / rows;
  weight_ = torch::cholesky_solve(moments, torch::linalg_cholesky(correlations));
}

at::Tensor LinearMap::operator()(const at::Tensor& x) const {
  return torch::matmul((x - mean_) * scale_, weight_) + constant_;
}

double r_squared(const at::Tensor& y, const at::Tensor& predicted) {
  const double total = (y - y.mean(0)).square().sum().item<double>();
  if (!(total > 0)) return std::numeric_limits<double>::quiet_NaN();
  return 1 - (y - predicted).square().sum().item<double>() / total;
}

}  // namespace mambarium
