// Ngram: the add-beta estimator of a chosen order as a model without parameters, to run beside models that learn.
//
// The function of core/estimators' make_add_beta, started anew for every sequence: P(j) = (n_j + beta) / (n + S beta),
// n_j counts how often j has followed the last `order` tokens. Switch tokens are counted like any other. Nothing is
// trained: losses have no gradient. Not differentiable, no convolution, no decay factors.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "core/estimators/estimators.h"
#include "core/models/parameter.h"
#include "core/models/sequence_model.h"

namespace mambarium {

class Ngram final : public SequenceModel {
 public:
  // Throws std::invalid_argument where make_add_beta() does.
  Ngram(std::int64_t order, std::int64_t states, double beta, Precision precision);

  std::vector<Parameter>& parameters() override { return parameters_; }
  at::Tensor log_probabilities(const at::Tensor& tokens) override;
  at::Tensor loss(const at::Tensor& tokens, const at::Tensor& targets) override;
  std::unique_ptr<ModelState> initial_state(std::int64_t batch) override;
  at::Tensor step(const at::Tensor& tokens, ModelState& state) override;
  std::vector<FilterData::Layer> filters() override { return {}; }

 private:
  at::Tensor predicted(const at::Tensor& tokens);  // float64

  std::unique_ptr<Estimator> estimator_;
  at::ScalarType type_;
  std::vector<Parameter> parameters_;  // none
};

}  // namespace mambarium
