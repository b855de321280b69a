// Initial weights, each from the stream that carries its parameter's name (docs/science.md).
//
// A parameter is a pure function of (seed, name, shape): whatever else a model has or lacks, it starts bit-identical.
// Numbers are drawn in double and rounded to float32 also where the model computes in float64, so that both precisions
// start from the same point.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

namespace mambarium {

class Initialiser {
 public:
  Initialiser(std::uint64_t seed, at::ScalarType type) : seed_(seed), type_(type) {}

  using Shape = std::vector<std::int64_t>;
  at::Tensor constant(const Shape& shape, double value) const;
  at::Tensor normal(const std::string& name, const Shape& shape, double deviation) const;
  at::Tensor uniform(const std::string& name, const Shape& shape, double bound) const;  // in [-bound, bound)
  at::Tensor log_decay_rate(const std::string& name, std::int64_t heads) const;         // A_log: log of A in [1, 16)
  // softplus of it is log-uniform in [1e-3, 1e-1).
  at::Tensor dt_bias(const std::string& name, std::int64_t heads) const;

 private:
  std::uint64_t seed_;
  at::ScalarType type_;
};

}  // namespace mambarium
