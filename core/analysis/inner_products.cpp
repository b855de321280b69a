#include "core/analysis/inner_products.h"

#include <array>
#include <cmath>
#include <limits>
#include <stdexcept>

#include "core/contract/text.h"
#include "core/models/model_tensors.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

std::string name_of_window(const at::Tensor& tokens, bool one_digit) {
  std::string name;
  for (std::int64_t i = 0; i < tokens.size(0); ++i) {
    if (i > 0 && !one_digit) name += ',';
    name += std::to_string(tokens[i].item<std::int64_t>());
  }
  return name;
}

// All windows, the oldest token counting most. [W, w]
at::Tensor all_windows(std::int64_t alphabet, std::int64_t window) {
  const auto token = torch::arange(alphabet, torch::kInt64);
  if (window == 1) return token.unsqueeze(1);
  return torch::stack(torch::meshgrid(std::vector<at::Tensor>(static_cast<std::size_t>(window), token), "ij"), -1)
      .flatten(0, -2)
      .contiguous();
}

}  // namespace

InnerProductData inspect_inner_products(SequenceModel& model, const ExperimentConfig& config, std::int64_t layer,
                                        std::int64_t step) {
  const torch::NoGradGuard no_grad;
  if (layer != 0)
    throw std::invalid_argument("b and c of layer " + std::to_string(layer) +
                                " depend on the whole past; only those of layer 0 belong to a window of tokens");
  const std::int64_t alphabet = alphabet_of(config);
  const std::int64_t window = config.text("model.conv") == "none" ? 1 : config.integer("model.d_conv");
  const double count = std::pow(static_cast<double>(alphabet), static_cast<double>(window));
  if (count > static_cast<double>(most_windows))
    throw std::invalid_argument("there are " + shortest(count) + " windows of " + std::to_string(window) +
                                " tokens, inner products are shown for " + std::to_string(most_windows) + " at most");
  const at::Tensor windows = all_windows(alphabet, window);
  const auto [b, c] = model.projections(windows, layer);
  InnerProductData data{
      step, window, {}, plain_tensor(torch::matmul(b.select(1, window - 1), c.select(1, window - 1).t()))};
  for (std::int64_t row = 0; row < windows.size(0); ++row)
    data.windows.push_back(name_of_window(windows[row], alphabet <= 10));
  return data;
}

double inner_product_leak(SequenceModel& model, const ExperimentConfig& config) {
  constexpr double nan = std::numeric_limits<double>::quiet_NaN();
  InnerProductData data;
  try {
    data = inspect_inner_products(model, config, 0, 0);
  } catch (const std::invalid_argument&) {
    return nan;
  }
  const std::int64_t order = config.integer("task.order");
  if (data.window <= order) return nan;
  const std::int64_t count = data.products.shape[0];
  const auto contexts =
      static_cast<std::int64_t>(std::pow(static_cast<double>(alphabet_of(config)), static_cast<double>(order)));
  std::array<double, 2> sums{}, pairs{};
  for (std::int64_t v = 0; v < count; ++v)
    for (std::int64_t u = 0; u < count; ++u) {
      const std::size_t agree = v / alphabet_of(config) % contexts == u % contexts ? 1 : 0;
      sums[agree] += std::abs(data.products.data[static_cast<std::size_t>(v * count + u)]);
      ++pairs[agree];
    }
  return sums[0] / pairs[0] / (sums[1] / pairs[1]);
}

}  // namespace mambarium
