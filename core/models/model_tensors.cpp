#include "core/models/model_tensors.h"

#include <sstream>
#include <stdexcept>

#include "core/torch_precompiled.h"

namespace mambarium {

void check_tokens(const at::Tensor& tokens, std::int64_t dimensions, std::int64_t states, const char* what) {
  std::ostringstream problem;
  if (tokens.scalar_type() != torch::kInt64 || tokens.dim() != dimensions || tokens.numel() == 0) {
    problem << what << ": expected a non-empty int64 tensor of " << dimensions << " dimensions, got "
            << tokens.toString() << " " << tokens.sizes();
    throw std::invalid_argument(problem.str());
  }
  const auto [least, greatest] = torch::aminmax(tokens);
  if (least.item<std::int64_t>() < 0 || greatest.item<std::int64_t>() >= states) {
    problem << what << ": holds a token outside 0 to " << states - 1 << " (found " << least.item<std::int64_t>()
            << " to " << greatest.item<std::int64_t>() << ")";
    throw std::invalid_argument(problem.str());
  }
}

void check_batch(const at::Tensor& tokens, const at::Tensor& targets, std::int64_t states) {
  check_tokens(tokens, 2, states, "tokens");
  if (targets.scalar_type() == torch::kInt64 && targets.numel() > 0 && !every_target_counts(targets)) {
    const auto scored = targets.masked_select(targets.ne(-1));
    if (scored.numel() == 0) throw std::invalid_argument("targets: none of them counts, all are -1");
    check_tokens(scored, 1, states, "targets");
  } else {
    check_tokens(targets, 2, states, "targets");
  }
  if (targets.sizes() != tokens.sizes()) {
    std::ostringstream problem;
    problem << "targets: expected the shape of tokens " << tokens.sizes() << ", got " << targets.sizes();
    throw std::invalid_argument(problem.str());
  }
}

bool every_target_counts(const at::Tensor& targets) {
  return targets.min().item<std::int64_t>() != -1;
}

ScoredRows scored_rows(const at::Tensor& u, const at::Tensor& targets) {
  const auto flat = targets.flatten();
  if (every_target_counts(targets)) return {u.flatten(0, 1).unsqueeze(0), flat};
  const auto places = flat.ne(-1).nonzero().squeeze(1);
  return {u.flatten(0, 1).index_select(0, places).unsqueeze(0), flat.index_select(0, places)};
}

void check_shape(const at::Tensor& tensor, const char* what, at::ScalarType type,
                 const std::vector<std::int64_t>& sizes) {
  if (tensor.scalar_type() == type && tensor.sizes() == sizes && tensor.numel() > 0) return;
  std::ostringstream problem;
  problem << what << ": expected " << toString(type) << " of the sizes " << at::IntArrayRef(sizes) << ", got "
          << tensor.toString() << " " << tensor.sizes();
  throw std::invalid_argument(problem.str());
}

at::Tensor row_of(std::span<const std::int32_t> tokens) {
  return torch::tensor(std::vector<std::int64_t>(tokens.begin(), tokens.end()), torch::kInt64).unsqueeze(0);
}

void check_place(std::int64_t index, std::int64_t count, const char* what) {
  if (index >= 0 && index < count) return;
  throw std::invalid_argument(std::string(what) + " " + std::to_string(index) + " does not exist, there are 0 to " +
                              std::to_string(count - 1));
}

Tensor plain_tensor(const at::Tensor& tensor) {
  if (!tensor.defined()) return {{0}, {}};
  const auto numbers = tensor.detach().to(torch::kFloat32).contiguous();
  const float* data = numbers.data_ptr<float>();
  return {tensor.sizes().vec(), std::vector<float>(data, data + numbers.numel())};
}

}  // namespace mambarium
