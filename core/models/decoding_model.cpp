#include "core/models/decoding_model.h"

#include <cmath>
#include <stdexcept>

#include "core/models/initialisation.h"
#include "core/models/model_tensors.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

[[noreturn]] void refuse_tokens() {
  throw std::invalid_argument("a decoder reads whole windows of a recording, not one token after another");
}

}  // namespace

DecodingModel::DecodingModel(const DecodingShape& shape, std::int64_t d_model, std::uint64_t seed,
                             std::unique_ptr<SequenceModel> blocks, Precision precision)
    : shape_(shape),
      type_(precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64),
      blocks_(std::move(blocks)) {
  const Initialiser draw(seed, type_);
  const auto linear = [&](const std::string& name, std::int64_t rows, std::int64_t columns) {
    const double bound = 1.0 / std::sqrt(static_cast<double>(columns));
    const auto weight = add(name + ".weight", draw.uniform(name + ".weight", {rows, columns}, bound), true);
    return Linear{weight, add(name + ".bias", draw.constant({rows}, 0), false)};
  };
  wide_ = linear("encoder.0", 2 * d_model, shape_.channels);
  narrow_ = linear("encoder.1", d_model, 2 * d_model);
  for (const Parameter& parameter : blocks_->parameters()) parameters_.push_back(parameter);
  read_out_ = linear("read_out", shape_.answers, d_model);
}

at::Tensor& DecodingModel::add(const std::string& name, at::Tensor tensor, bool decayed) {
  parameters_.push_back({name, tensor.set_requires_grad(true), decayed});
  return parameters_.back().tensor;
}

at::Tensor DecodingModel::embedded(const at::Tensor& windows) {
  const std::int64_t batch = windows.dim() == 3 ? windows.size(0) : 1;
  check_shape(windows, "windows", type_, {batch, shape_.bins, shape_.channels});
  const auto hidden = torch::gelu(torch::linear(windows, wide_.weight, wide_.bias));
  return torch::linear(hidden, narrow_.weight, narrow_.bias);
}

at::Tensor DecodingModel::answers(const at::Tensor& windows) {
  const auto u = blocks_->rows(embedded(windows));
  // The mean of a linear map is the map of the mean.
  return torch::linear(shape_.outputs ? u.select(1, -1) : u.mean(1), read_out_.weight, read_out_.bias);
}

at::Tensor DecodingModel::log_probabilities(const at::Tensor& windows) {
  const auto answer = answers(windows);
  return shape_.outputs ? answer : torch::log_softmax(answer, -1);
}

at::Tensor DecodingModel::loss(const at::Tensor& windows, const at::Tensor& wanted) {
  const auto answer = answers(windows);
  if (shape_.outputs) {
    check_shape(wanted, "outputs", type_, {windows.size(0), shape_.answers});
    return torch::mse_loss(answer, wanted);
  }
  check_shape(wanted, "labels", torch::kInt64, {windows.size(0)});
  const auto [least, greatest] = torch::aminmax(wanted);
  if (least.item<std::int64_t>() < 0 || greatest.item<std::int64_t>() >= shape_.answers)
    throw std::invalid_argument("labels: hold a class outside 0 to " + std::to_string(shape_.answers - 1));
  return torch::nll_loss(torch::log_softmax(answer, -1), wanted);
}

std::unique_ptr<ModelState> DecodingModel::initial_state(std::int64_t) {
  refuse_tokens();
}

at::Tensor DecodingModel::step(const at::Tensor&, ModelState&) {
  refuse_tokens();
}

}  // namespace mambarium
