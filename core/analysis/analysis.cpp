#include "core/analysis/analysis.h"

#include <nlohmann/json.hpp>
#include <stdexcept>
#include <vector>

#include "core/analysis/channel_flow.h"
#include "core/analysis/decoding.h"
#include "core/analysis/extrapolation.h"
#include "core/analysis/inner_products.h"
#include "core/analysis/predictions.h"
#include "core/analysis/probe_sequence.h"
#include "core/analysis/quantisation.h"
#include "core/analysis/state_read_out.h"
#include "core/analysis/theorem4.h"
#include "core/contract/text.h"
#include "core/estimators/known_task.h"

namespace mambarium {

namespace {

// What still fits a frame, and a person's patience.
void require_sendable(const char* what, double numbers) {
  constexpr double most = 1 << 25;
  if (numbers > most)
    throw std::invalid_argument(std::string(what) + " of this model are " + shortest(numbers) + " numbers, more than " +
                                shortest(most) + " cannot be sent");
}

}  // namespace

DecayData inspect_decay(SequenceModel& model, const ExperimentConfig& config, std::int64_t probe, std::int64_t step) {
  const ProbeSequence sequence = probe_sequence(config, probe);
  const auto inputs = sequence.inputs();
  const auto heads = static_cast<double>(d_inner_of(config) / headdim_of(config));
  require_sendable("the decay factors",
                   heads * static_cast<double>(config.integer("model.layers")) * static_cast<double>(inputs.size()));
  return {step, {inputs.begin(), inputs.end()}, model.decay_factors(inputs)};
}

FilterData inspect_filters(SequenceModel& model, std::int64_t step) {
  return {step, model.filters()};
}

PredictionData inspect_prediction(SequenceModel& model, const ExperimentConfig& config, std::int64_t probe,
                                  std::int64_t step) {
  const ProbeSequence sequence = probe_sequence(config, probe);
  const auto inputs = sequence.inputs();
  const auto task = make_task(config, Split::test);
  const auto best = task->best_predictor(), oracle = task->oracle(sequence.kernel);
  return {step,
          config.integer("task.order"),
          {inputs.begin(), inputs.end()},
          sequence.tokens.back(),
          predictions(model, inputs),
          predictions(*best, inputs),
          predictions(*oracle, inputs)};
}

ExtrapolationData inspect_extrapolation(SequenceModel& model, const ExperimentConfig& config, std::int64_t step) {
  constexpr std::int64_t tokens_of_a_length = 1 << 13, fewest_sequences = 8, longest = 1 << 12;
  std::vector<std::int64_t> lengths = usual_lengths(config);
  std::erase_if(lengths, [](std::int64_t length) { return length > longest; });
  if (lengths.empty()) lengths.push_back(config.integer("task.length"));
  return extrapolate(model, config, lengths, tokens_of_a_length, fewest_sequences, step);
}

nlohmann::json inspect(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                       std::int64_t step, const DecodingTask* decoding) {
  if (const auto reason = nothing_to_inspect(config, request.what)) throw std::invalid_argument(*reason);
  if (request.what == "decay") return inspect_decay(model, config, request.probe, step);
  if (request.what == "filters") return inspect_filters(model, step);
  if (request.what == "prediction") return inspect_prediction(model, config, request.probe, step);
  if (request.what == "state") return inspect_state(model, config, request, step);
  if (request.what == "inner_products") return inspect_inner_products(model, config, request.layer, step);
  if (request.what == "quantisation") return inspect_quantisation(model, config, step);
  if (request.what == "theorem4") return inspect_theorem4(request.epsilon, request.beta);
  if (request.what == "circuit") return inspect_circuit(model, config, request, step, decoding);
  if (request.what == "flow") return inspect_flow(model, config, request, step, decoding);
  if (request.what == "reconstruction") return inspect_reconstruction(model, config, request, step, decoding);
  if (request.what == "extrapolation") return inspect_extrapolation(model, config, step);
  if (request.what == "decoding")
    return decoding != nullptr ? inspect_decoding(model, *decoding, step) : inspect_decoding(model, config, step);
  std::string kinds;
  for (const std::string_view kind : inspection_kinds()) kinds.append(kinds.empty() ? "" : ", ").append(kind);
  throw std::invalid_argument(in_quotes(request.what) + " cannot be inspected, only one of " + kinds + " can");
}

}  // namespace mambarium
