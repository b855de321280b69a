#include "tests/models/model_helpers.h"

#include <algorithm>

namespace mambarium {

at::Tensor some_tokens(std::int64_t batch, std::int64_t length, std::int64_t states, std::uint64_t salt) {
  auto tokens = torch::empty({batch, length}, torch::kInt64);
  std::uint64_t number = 88172645463325252u + salt;
  for (std::int64_t index = 0; index < batch * length; ++index) {
    number ^= number << 13;
    number ^= number >> 7;
    number ^= number << 17;
    tokens.data_ptr<std::int64_t>()[index] =
        static_cast<std::int64_t>((number >> 20) % static_cast<std::uint64_t>(states));
  }
  return tokens;
}

void enlarge(SequenceModel& model, double size) {
  const torch::NoGradGuard no_gradients;
  std::int64_t salt = 0;
  for (Parameter& parameter : model.parameters()) {
    const auto steps = torch::arange(parameter.tensor.numel(), torch::kFloat64).reshape(parameter.tensor.sizes());
    const auto change = torch::sin(steps * 1.7 + static_cast<double>(++salt)) * size;
    parameter.tensor.add_(change.to(torch::kFloat32).to(parameter.tensor.scalar_type()));
    parameter.tensor.copy_(parameter.tensor.to(torch::kFloat32));
  }
}

std::map<std::string, at::Tensor> named(SequenceModel& model) {
  std::map<std::string, at::Tensor> map;
  for (const Parameter& parameter : model.parameters()) {
    map[parameter.name] = parameter.tensor;
  }
  return map;
}

double largest_difference(const at::Tensor& a, const at::Tensor& b) {
  const auto difference = (a.to(torch::kFloat64) - b.to(torch::kFloat64)).abs();
  return difference.numel() == 0 ? 0 : difference.max().item<double>();
}

std::string refusal(const std::function<void()>& action) {
  try {
    action();
  } catch (const std::invalid_argument& error) {
    return error.what();
  }
  return "";
}

at::Tensor read_token_by_token(SequenceModel& model, const at::Tensor& tokens) {
  const torch::NoGradGuard no_gradients;
  const auto state = model.initial_state(tokens.size(0));
  std::vector<at::Tensor> rows;
  for (std::int64_t t = 0; t < tokens.size(1); ++t)
    rows.push_back(model.step(tokens.select(1, t).contiguous(), *state));
  return torch::stack(rows, 1);
}

void check_steps_and_pieces(SequenceModel& model, double tolerance) {
  const torch::NoGradGuard no_gradients;
  const auto tokens = some_tokens(3, 90, 3);
  const auto expected = model.log_probabilities(tokens);
  const auto state = model.initial_state(3);
  QVERIFY(largest_difference(read_token_by_token(model, tokens), expected) < tolerance);
  std::int64_t done = 0;
  for (const std::int64_t length : {1, 40, 2, 47}) {
    const auto found = model.read(tokens.narrow(1, done, length), *state);
    QVERIFY(largest_difference(found, expected.narrow(1, done, length)) < tolerance);
    done += length;
  }
}

void check_copied_state(SequenceModel& model) {
  const torch::NoGradGuard no_gradients;
  const auto tokens = some_tokens(2, 30, 3);
  const auto state = model.initial_state(2);
  model.read(tokens.narrow(1, 0, 10), *state);
  const auto copy = state->clone();
  const auto found = model.read(tokens.narrow(1, 10, 20), *state);
  QVERIFY(torch::equal(model.read(tokens.narrow(1, 10, 20), *copy), found));
}

void check_causality(SequenceModel& model) {
  const torch::NoGradGuard no_gradients;
  const auto tokens = some_tokens(2, 60, 2);
  const auto expected = model.log_probabilities(tokens);
  for (const std::int64_t from : {1, 17, 59}) {
    auto changed = tokens.clone();
    changed.narrow(1, from, 60 - from).bitwise_xor_(1);
    const auto found = model.log_probabilities(changed);
    QVERIFY(torch::equal(found.narrow(1, 0, from), expected.narrow(1, 0, from)));
    QVERIFY(largest_difference(found.select(1, from), expected.select(1, from)) > 1e-4);
  }
}

void check_masked_targets(SequenceModel& model) {
  const torch::NoGradGuard no_gradients;
  const auto tokens = some_tokens(2, 20, 3);
  auto targets = torch::full({2, 20}, -1, torch::kInt64);
  targets.index_put_({0, 3}, 2);
  targets.index_put_({1, 19}, 0);
  const auto log_p = model.log_probabilities(tokens);
  const double expected = -(log_p.index({0, 3, 2}).item<double>() + log_p.index({1, 19, 0}).item<double>()) / 2;
  QVERIFY(std::abs(model.loss(tokens, targets).item<double>() - expected) < 1e-13);
}

double finite_difference(const std::function<at::Tensor()>& objective, const at::Tensor& numbers, std::int64_t index) {
  constexpr double step = 1e-6;
  const auto flat = numbers.view({-1});
  const double kept = flat[index].item<double>();
  flat[index] = kept + step;
  const double above = objective().item<double>();
  flat[index] = kept - step;
  const double below = objective().item<double>();
  flat[index] = kept;
  return (above - below) / (2 * step);
}

double gradient_error(SequenceModel& model, const at::Tensor& tokens, const at::Tensor& targets, std::int64_t most) {
  model.loss(tokens, targets).backward();
  const torch::NoGradGuard no_gradients;
  double largest = 0;
  for (const Parameter& parameter : model.parameters()) {
    const auto gradients = parameter.tensor.grad().reshape({-1});
    for (std::int64_t index = 0; index < std::min(gradients.numel(), most); ++index) {
      const double difference = finite_difference([&] { return model.loss(tokens, targets); }, parameter.tensor, index);
      largest = std::max(largest, std::abs(difference - gradients[index].item<double>()));
    }
  }
  return largest;
}

}  // namespace mambarium
