// What the panels of a Motif-Mamba ask for: the wiring of one channel, its z along a probe sequence with all that its
// flow field is made of, and the state replayed from z (Lemma 2). Pure functions; no gradients; nothing is drawn here.
//
// request.layer and request.head choose the layer and the channel. A decoder's sequence is a window of its recording
// (probe_window()), on the scale its blocks take; `recording` is that of the configuration where it is in memory
// already, else it is read again. Throws std::invalid_argument, one sentence, where the model has no coupling or no
// such layer, channel or probe, and as DecodingTask.
#pragma once

#include "core/contract/coupling_inspection.h"
#include "core/contract/inspection.h"
#include "core/models/coupled_model.h"
#include "core/models/sequence_model.h"

namespace mambarium {

class DecodingTask;  // core/decoding/decoding_task.h

CircuitData inspect_circuit(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                            std::int64_t step, const DecodingTask* recording = nullptr);
FlowData inspect_flow(SequenceModel& model, const ExperimentConfig& config, const InspectRequest& request,
                      std::int64_t step, const DecodingTask* recording = nullptr);
ReconstructionData inspect_reconstruction(SequenceModel& model, const ExperimentConfig& config,
                                          const InspectRequest& request, std::int64_t step,
                                          const DecodingTask* recording = nullptr);

}  // namespace mambarium
