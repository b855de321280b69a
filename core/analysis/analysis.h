// What the panels ask for, computed from a model. Pure functions; no gradients; nothing is drawn here.
#pragma once

#include "core/contract/coupling_inspection.h"
#include "core/contract/inspection.h"
#include "core/models/sequence_model.h"

namespace mambarium {

class DecodingTask;  // core/decoding/decoding_task.h

// Probe sequence `probe` of a configuration (stream "probe" of its seed): the same for every model trained on it.
DecayData inspect_decay(SequenceModel& model, const ExperimentConfig& config, std::int64_t probe, std::int64_t step);
FilterData inspect_filters(SequenceModel& model, std::int64_t step);
PredictionData inspect_prediction(SequenceModel& model, const ExperimentConfig& config, std::int64_t probe,
                                  std::int64_t step);

// At the usual lengths, of few sequences each: a glance (extrapolation.h measures).
ExtrapolationData inspect_extrapolation(SequenceModel& model, const ExperimentConfig& config, std::int64_t step);

// The request answered from the model as it is; throws std::invalid_argument with one sentence for an unknown kind or
// probe. `decoding`: the recording of a decoder, where it is in memory already; nullptr: it is read again.
nlohmann::json inspect(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                       std::int64_t step, const DecodingTask* decoding = nullptr);

}  // namespace mambarium
