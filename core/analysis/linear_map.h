// The best linear map with a constant from some columns to others, by least squares. Includes torch: for .cpp files.
#pragma once

#include <ATen/core/Tensor.h>

namespace mambarium {

// y ~ W x + c in float64. The columns of x are scaled to variance 1, constant ones are left out of account, and where
// others depend on each other the smallest weights are taken: 1e-10 on the diagonal of their correlations, which biases
// a prediction by that order.
class LinearMap {
 public:
  // x [rows, d], y [rows, cells], float64. Throws std::invalid_argument where x holds a number that is not finite.
  LinearMap(const at::Tensor& x, const at::Tensor& y);
  at::Tensor operator()(const at::Tensor& x) const;  // [rows, d] -> [rows, cells]

 private:
  at::Tensor mean_, scale_, weight_, constant_;
};

// 1 - SSE / SST over all cells and rows, deviations being from each cell's mean. NaN where nothing varies.
double r_squared(const at::Tensor& y, const at::Tensor& predicted);

}  // namespace mambarium
