#include "core/theory/confusable_pair.h"

#include <algorithm>
#include <stdexcept>

#include "core/torch_precompiled.h"

namespace mambarium {

Confusion confusion(SequenceModel& model) {
  const torch::NoGradGuard no_gradients;
  const auto state = model.initial_state(2);
  at::Tensor log_p;
  for (std::size_t t = 0; t < confusable_pair[0].tokens.size(); ++t) {
    const std::vector<std::int64_t> tokens{confusable_pair[0].tokens[t], confusable_pair[1].tokens[t]};
    log_p = model.step(torch::tensor(tokens, torch::kInt64), *state);
  }
  if (log_p.size(1) != 2) throw std::invalid_argument("the confusable pair is for models that read two tokens");
  auto numbers = state->hidden();
  if (numbers.empty()) throw std::invalid_argument("this model has no recurrent state to confuse sequences in");
  for (at::Tensor& window : state->windows()) numbers.push_back(std::move(window));
  const at::Tensor probabilities = log_p.exp();
  Confusion found{.predicted = {probabilities[0][1].item<double>(), probabilities[1][1].item<double>()}};
  for (const at::Tensor& part : numbers) {
    found.state_distance = std::max(found.state_distance, (part[0] - part[1]).abs().max().item<double>());
    found.largest_number = std::max(found.largest_number, part.abs().max().item<double>());
  }
  return found;
}

}  // namespace mambarium
