// What the model tests share: token sequences, weights large enough for every part to matter, parameters by name, how
// far two results are apart, and what has to hold of every model that reads from left to right (check_...).
#pragma once

#include <torch/torch.h>

#include <QTest>
#include <cmath>
#include <functional>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

#include "core/models/parameter.h"
#include "core/models/sequence_model.h"

namespace mambarium {

// [batch, length] of int64, each from 0 to states - 1; another salt, other tokens.
at::Tensor some_tokens(std::int64_t batch, std::int64_t length, std::int64_t states, std::uint64_t salt = 0);

// Initial weights are so small that errors would hide behind them.
void enlarge(SequenceModel& model, double size = 0.3);

std::map<std::string, at::Tensor> named(SequenceModel& model);

// Of any two numbers in the same place; 0 between tensors without numbers.
double largest_difference(const at::Tensor& a, const at::Tensor& b);

// What an action says when it refuses its arguments; "" when it does not.
std::string refusal(const std::function<void()>& action);

// The derivative of a float64 scalar by one number of `numbers` (contiguous, all its numbers in a row), by a step of
// 1e-6 to both sides; without gradients.
double finite_difference(const std::function<at::Tensor()>& objective, const at::Tensor& numbers, std::int64_t index);

// The largest difference between a gradient of the loss and its finite difference, over the first `most` numbers of
// every parameter.
double gradient_error(SequenceModel& model, const at::Tensor& tokens, const at::Tensor& targets, std::int64_t most);

// Log-probabilities [batch, length, states] by step() alone.
at::Tensor read_token_by_token(SequenceModel& model, const at::Tensor& tokens);

// Token by token and in pieces, a model of 3 states is the same function as in one go.
void check_steps_and_pieces(SequenceModel& model, double tolerance);
void check_copied_state(SequenceModel& model);
// Other tokens from a place on change nothing before it, and something there.
void check_causality(SequenceModel& model);
// Targets of -1 do not count, in a float64 model of 3 states.
void check_masked_targets(SequenceModel& model);

// The gradient of a coupled float64 model's penalty against its finite difference, at the first number of each part of
// the second layer's coupling.
template <class Model>
void check_penalty_gradient(Model& model) {
  model.penalty().backward();
  const torch::NoGradGuard no_gradients;
  for (const char* const part : {"P", "Q", "k"}) {
    const auto tensor = named(model).at(std::string("layers.1.coupling.") + part);
    const double gradient = tensor.grad().reshape({-1})[0].template item<double>();
    const double difference = finite_difference([&] { return model.penalty(); }, tensor, 0);
    QVERIFY2(std::abs(difference - gradient) < 1e-7 && std::abs(gradient) > 1e-8, part);
  }
}

// A warm-up takes the motif loss to a tenth, and moves nothing but the couplings; `untouched` is of the same options.
template <class Model>
void check_warm_up(Model& model, Model& untouched) {
  const double before = model.motif_standing().loss;
  model.warm_up();
  QVERIFY(model.motif_standing().loss <= 0.1 * before * (1 + 1e-3));
  const auto others = named(untouched);
  for (const auto& [name, tensor] : named(model))
    QCOMPARE(torch::equal(tensor, others.at(name)), name.find("coupling") == std::string::npos);
}

}  // namespace mambarium
