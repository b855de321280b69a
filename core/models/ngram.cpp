#include "core/models/ngram.h"

#include "core/models/layered_state.h"
#include "core/models/model_tensors.h"
#include "core/torch_precompiled.h"

namespace mambarium {

namespace {

struct NgramState final : ModelState {
  std::vector<std::unique_ptr<Estimator>> sequences;

  std::unique_ptr<ModelState> clone() const override {
    auto copy = std::make_unique<NgramState>();
    for (const auto& estimator : sequences) copy->sequences.push_back(estimator->clone());
    return copy;
  }
};

void predict_after(Estimator& estimator, std::int64_t token, std::span<double> out) {
  estimator.observe(static_cast<std::int32_t>(token));
  estimator.predict(out);
}

}  // namespace

Ngram::Ngram(std::int64_t order, std::int64_t states, double beta, Precision precision)
    : estimator_(make_add_beta(order, states, beta)),
      type_(precision == Precision::float32 ? torch::kFloat32 : torch::kFloat64) {}

at::Tensor Ngram::predicted(const at::Tensor& tokens) {
  const auto states = static_cast<std::size_t>(estimator_->states());
  const auto inputs = tokens.contiguous();
  auto probabilities = torch::empty({tokens.size(0), tokens.size(1), estimator_->states()}, torch::kFloat64);
  const std::int64_t* token = inputs.data_ptr<std::int64_t>();
  double* row = probabilities.data_ptr<double>();
  for (std::int64_t sequence = 0; sequence < tokens.size(0); ++sequence) {
    estimator_->reset();
    for (std::int64_t t = 0; t < tokens.size(1); ++t, ++token, row += states) {
      predict_after(*estimator_, *token, {row, states});
    }
  }
  return probabilities.log_();
}

at::Tensor Ngram::log_probabilities(const at::Tensor& tokens) {
  check_tokens(tokens, 2, estimator_->states(), "tokens");
  return predicted(tokens).to(type_);
}

at::Tensor Ngram::loss(const at::Tensor& tokens, const at::Tensor& targets) {
  check_batch(tokens, targets, estimator_->states());
  return torch::nll_loss(predicted(tokens).flatten(0, 1), targets.flatten()).to(type_);
}

std::unique_ptr<ModelState> Ngram::initial_state(std::int64_t batch) {
  auto state = std::make_unique<NgramState>();
  estimator_->reset();
  for (std::int64_t sequence = 0; sequence < batch; ++sequence) state->sequences.push_back(estimator_->clone());
  return state;
}

at::Tensor Ngram::step(const at::Tensor& tokens, ModelState& state) {
  check_tokens(tokens, 1, estimator_->states(), "tokens");
  auto* own = dynamic_cast<NgramState*>(&state);
  if (own == nullptr || std::ssize(own->sequences) != tokens.size(0)) throw foreign_state(tokens.size(0));
  const auto states = static_cast<std::size_t>(estimator_->states());
  auto probabilities = torch::empty({tokens.size(0), estimator_->states()}, torch::kFloat64);
  double* row = probabilities.data_ptr<double>();
  for (std::int64_t sequence = 0; sequence < tokens.size(0); ++sequence, row += states) {
    predict_after(*own->sequences[static_cast<std::size_t>(sequence)], tokens[sequence].item<std::int64_t>(),
                  {row, states});
  }
  return probabilities.log_().to(type_);
}

}  // namespace mambarium
