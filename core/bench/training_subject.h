// The whole training step of an experiment as a subject of a bench: data, forward, backward, optimiser; on run.threads
// threads, without a run folder, and with neither evaluations nor checkpoints in between. Whatever run.device says,
// steps are taken on `device`: "cpu", or "cuda" with the fused engine, which throws TrainingError without a usable GPU.
#pragma once

#include "core/bench/subject.h"
#include "core/contract/experiment_config.h"
#include "core/models/sequence_model.h"

namespace mambarium {

Subject training_subject(ExperimentConfig config, Engine engine, const char* device = "cpu");

}  // namespace mambarium
