// Whole models against LibTorch operators and autograd in float64, parameter by parameter. `instructions` says with
// what they are computed.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string>
#include <vector>

#include "core/selftest/selftest.h"
#include "core/training/training_step.h"

namespace mambarium {

// The largest difference, relative to the largest number expected, or to `floor` where that is more.
double difference(const at::Tensor& found, const at::Tensor& expected, double floor);

// The fused engine. A batch of three goes block by block, a larger one through the whole model in lanes.
std::vector<SelftestCheck> check_model(const std::string& instructions, const std::string& path, std::int64_t batch);

// Training steps, wherever they are taken: loss, norm and gradients over 1 to 512 tokens, and AdamW's updates.
std::vector<SelftestCheck> check_step(const StepFactory& make_step, const std::string& instructions);

}  // namespace mambarium
