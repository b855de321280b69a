#include "core/contract/yardsticks.h"

namespace mambarium {

std::string loss_unit(const ExperimentConfig& config) {
  if (decodes_outputs(config)) return "variances";
  if (is_decoder(config)) return "nats per window";
  return scores_one_token(config) ? "nats per answer" : "nats per token";
}

Yardsticks yardsticks(const ExperimentConfig& config) {
  if (is_decoder(config)) return {"ideal_decoder", "", "uninformed"};
  if (scores_one_token(config)) return {"recall", "", "uniform"};
  return {switch_token_of(config) ? "bayes" : "add_beta", "oracle", "uniform"};
}

}  // namespace mambarium
